// What is not run with replicas in the place of a gateway, and why. A file as a whole, or tests of it by the text of
// their names.

export interface Exclusion {
  /** From the root of the repository. */
  readonly file: string;
  /** Parts of the names of tests; without it, the whole file. */
  readonly tests?: readonly string[];
  readonly reason: string;
}

export const EXCLUSIONS: readonly Exclusion[] = [
  {
    file: 'test/bridge/listening/logging.test.ts',
    tests: ["on a modern pipe that everybody shares nobody reads another's lines"],
    reason:
      'One caller asks the shared child whether it has the call of the other, and each replica has a child of its own. ' +
      'Whose turn the log lines are is kept for each child, so callers on two replicas cannot read each other either.',
  },
  {
    file: 'test/e2e/reload.test.ts',
    reason: 'It writes the file of one process anew; each replica has a file of its own.',
  },
];
