// What is wrong with the lists of a server, told to the operator once each and shown in `/status`.
import type { Logger } from '../telemetry/logger.ts';

const MAX_UNUSABLE_TOOLS = 500;

/** Why the rest of a list was not read. */
export type ListCut = 'too-many-pages' | 'too-large' | 'too-slow' | 'cursor-repeated';

export class ListFindings {
  readonly #logger: Logger;
  readonly #unusableTools = new Map<string, string>();
  readonly #cuts = new Map<string, ListCut>();
  readonly #told = new Set<string>();

  /** @param logger of the server */
  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** A tool that callers do not get to see, since it could not be called by the rules. */
  noteUnusableTool(name: string, problem: string): void {
    if (this.#unusableTools.get(name) === problem || this.#unusableTools.size >= MAX_UNUSABLE_TOOLS) return;
    this.#unusableTools.set(name, problem);
    this.#logger.warn({ tool: name, problem }, 'a tool is left out: it could not be called by the rules');
  }

  /** A list was read as far as `entries`; to its end where nothing cut it. */
  noteRead(list: string, { entries, cut }: { entries: number; cut: ListCut | undefined }): void {
    if (cut === undefined) {
      this.#cuts.delete(list);
      return;
    }
    this.#cuts.set(list, cut);
    if (this.#told.has(`${list} ${cut}`)) return;
    this.#told.add(`${list} ${cut}`);
    this.#logger.warn(
      { list, reason: cut, entries },
      'a list is cut: what the server lists after these entries is not there for clients; let it list less, or split it',
    );
  }

  get unusableTools(): readonly string[] {
    return [...this.#unusableTools.keys()];
  }

  status(): { unusableTools: Record<string, string>; cutLists: Record<string, ListCut> } {
    return {
      unusableTools: Object.fromEntries(this.#unusableTools),
      cutLists: Object.fromEntries(this.#cuts),
    };
  }
}
