// What does not fit between a server's list and what the operator says of it: for the log, once each, for /status and
// for a metric. Tools go by the server's own names.
import type { Logger } from '../telemetry/logger.ts';
import type { PinDifference } from './tool-pins.ts';

export interface ListFindings {
  /** The config speaks of them, the server does not list them. */
  readonly missing: readonly string[];
  /** They would have the name of another tool. */
  readonly clashing: readonly string[];
}

/** A server may list as many tools as it likes; what is kept of them has an end. */
const MAX_TOLD = 1_000;

const WORDS = {
  missing: 'an override names a tool that the server does not have',
  clashing: "a tool is left out: an override gives its name to another, or it another one's",
  enforce: 'a tool is left out: it is not as portico.lock has it',
  warn: 'a tool is not as portico.lock has it',
} as const;

export class ShapeFindings {
  readonly #logger: Pick<Logger, 'warn'>;
  readonly #told = new Set<string>();
  /** The digest that was last told of, by tool: one line for each change. */
  readonly #toldDigests = new Map<string, string>();
  readonly #differing = new Map<string, Pick<PinDifference, 'problem' | 'fields'>>();
  #last: ListFindings = { missing: [], clashing: [] };

  constructor(logger: Pick<Logger, 'warn'>) {
    this.#logger = logger;
  }

  /** Of a whole list; what was found of the list before it is over. */
  note(found: ListFindings): void {
    this.#last = found;
    for (const kind of ['missing', 'clashing'] as const) {
      for (const tool of found[kind]) this.#tellOnce(`${kind} ${tool}`, { tool }, WORDS[kind]);
    }
  }

  /** A tool is not as it was approved. */
  noteDifference({ sha256, ...found }: PinDifference, mode: 'enforce' | 'warn'): void {
    const { tool, problem, fields } = found;
    if (this.#differing.has(tool) || this.#differing.size < MAX_TOLD) {
      this.#differing.set(tool, { problem, fields });
    }
    if (this.#toldDigests.get(tool) === sha256) return;
    if (!this.#toldDigests.has(tool) && this.#toldDigests.size >= MAX_TOLD) return;
    this.#toldDigests.set(tool, sha256);
    this.#logger.warn(found, WORDS[mode]);
  }

  /** A tool is as it was approved. */
  noteApproved(tool: string): void {
    this.#differing.delete(tool);
  }

  /** Forgets differences of tools that are no more. */
  keepOnly(isListed: (tool: string) => boolean): void {
    for (const tool of this.#differing.keys()) {
      if (!isListed(tool)) this.#differing.delete(tool);
    }
  }

  status(): Record<string, unknown> {
    return {
      overridesWithoutTool: this.#last.missing,
      clashingTools: this.#last.clashing,
      unapprovedTools: Object.fromEntries(this.#differing),
    };
  }

  /** How many tools differ, by problem. */
  count(problem: PinDifference['problem']): number {
    return [...this.#differing.values()].filter((found) => found.problem === problem).length;
  }

  #tellOnce(about: string, facts: object, words: string): void {
    if (this.#told.has(about) || this.#told.size >= MAX_TOLD) return;
    this.#told.add(about);
    this.#logger.warn(facts, words);
  }
}
