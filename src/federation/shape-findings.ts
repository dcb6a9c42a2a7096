// What does not fit between a server's list and what the config says of it: for the log, once each, and for /status.
import type { Logger } from '../telemetry/logger.ts';

/** By the server's own names. */
export interface ListFindings {
  /** The config speaks of them, the server does not list them. */
  readonly missing: readonly string[];
  /** They would have the name of another tool. */
  readonly clashing: readonly string[];
}

const MAX_TOLD = 1_000;
const WORDS: Readonly<Record<keyof ListFindings, string>> = {
  missing: 'an override names a tool that the server does not have',
  clashing: "a tool is left out: an override gives its name to another, or it another one's",
};

export class ShapeFindings {
  readonly #logger: Pick<Logger, 'warn'>;
  readonly #told = new Set<string>();
  #last: ListFindings = { missing: [], clashing: [] };

  constructor(logger: Pick<Logger, 'warn'>) {
    this.#logger = logger;
  }

  /** Of a whole list; what was found before is over. */
  note(found: ListFindings): void {
    this.#last = found;
    for (const kind of ['missing', 'clashing'] as const) {
      for (const tool of found[kind]) this.#tell(kind, tool);
    }
  }

  status(): Record<string, unknown> {
    return { overridesWithoutTool: this.#last.missing, clashingTools: this.#last.clashing };
  }

  #tell(kind: keyof ListFindings, tool: string): void {
    const told = `${kind} ${tool}`;
    if (this.#told.has(told) || this.#told.size >= MAX_TOLD) return;
    this.#told.add(told);
    this.#logger.warn({ tool }, WORDS[kind]);
  }
}
