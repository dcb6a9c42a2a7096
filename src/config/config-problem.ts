// One thing that is wrong with a configuration, and where: what `portico check` prints a line for.

export interface ConfigProblem {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 code units, as editors count. */
  readonly column: number;
  /** Dotted, as in `gateway.listen.port` or `gateway.origins[0]`; empty for the file itself. */
  readonly path: string;
  /** What is wrong. Never a value that came from the environment or a file. */
  readonly message: string;
  /** How to mend it; empty where the message says it all. */
  readonly hint: string;
}

/** `file:line:column  path: message. hint`, the line that editors and terminals turn into a link. */
export function formatProblem(problem: ConfigProblem): string {
  const hint = problem.hint === '' ? '' : ` ${problem.hint}`;
  const path = problem.path === '' ? '' : `${problem.path}: `;
  return `${problem.file}:${problem.line}:${problem.column}  ${path}${problem.message}.${hint}`;
}
