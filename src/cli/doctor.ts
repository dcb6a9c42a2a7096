// `portico doctor`: to reach everything that a config names.
import type { Output } from './check.ts';

/** Resolves with the exit code. */
export async function doctor({ stderr }: { stderr: Output }): Promise<number> {
  stderr.write('portico: doctor is not available yet; portico check looks at the config alone\n');
  return 2;
}
