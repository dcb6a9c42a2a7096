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
    file: 'test/e2e/reload.test.ts',
    reason: 'It writes the file of one process anew; each replica has a file of its own.',
  },
];
