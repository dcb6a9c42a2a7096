// What rules find wrong with a config, noted with its place; and what a rule may know of the file besides.
import type { Fault } from './fault.ts';
import type { PersonalVariable } from './resolve-placeholders.ts';
import type { ConfigFile } from './schema.ts';
import type { Finding, Path } from './source-tree.ts';

export interface RuleFindings {
  readonly errors: readonly Finding[];
  readonly warnings: readonly Finding[];
}

export interface RuleInput {
  readonly file: ConfigFile;
  /** Values that the schema refused and that their defaults stand for; no rule judges those. */
  isInvalid(path: Path): boolean;
  /** Whether the file itself gives the value. */
  isWritten(path: Path): boolean;
  /** Variables of servers that are made for each caller. */
  readonly personal: readonly PersonalVariable[];
}

/** Where findings are noted, but for those that rest on a value which is wrong anyway. */
export class Ledger implements RuleFindings {
  readonly errors: Finding[] = [];
  readonly warnings: Finding[] = [];
  readonly #input: RuleInput;

  constructor(input: RuleInput) {
    this.#input = input;
  }

  refuse(
    found: Fault | undefined,
    at: Path,
    options: { on?: 'key' | 'value'; reads?: readonly Path[] } = {},
  ): void {
    if (found !== undefined && this.#stands([at, ...(options.reads ?? [])])) {
      this.errors.push({ path: at, on: options.on ?? 'value', ...found });
    }
  }

  warn(found: Fault | undefined, at: Path, reads: readonly Path[] = []): void {
    if (found !== undefined && this.#stands([at, ...reads])) {
      this.warnings.push({ path: at, on: 'value', ...found });
    }
  }

  isWritten(path: Path): boolean {
    return this.#input.isWritten(path);
  }

  #stands(paths: readonly Path[]): boolean {
    return !paths.some((path) => this.#input.isInvalid(path));
  }
}
