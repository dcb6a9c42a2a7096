// The folder that a rig's children run in. Whatever descends from them is found by it, also when the parents are gone.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { processesIn } from './process-tree.ts';

export interface ChildrenFolder {
  readonly path: string;
  /** For the end of a rig, once it has closed what it started: fails where a descendant is alive. */
  assertDeserted(): Promise<void>;
}

/** A process that was sent SIGKILL is not gone within the same moment. */
const GONE_WITHIN_MS = 3_000;

/** A folder of its own, unless the test has one already. */
export function childrenFolder(given?: string): ChildrenFolder {
  const path = given ?? mkdtempSync(join(tmpdir(), 'portico-'));
  return {
    path,
    async assertDeserted() {
      const until = performance.now() + GONE_WITHIN_MS;
      while (processesIn(path).length > 0 && performance.now() < until) await delay(10);
      const left = processesIn(path);
      for (const pid of left) process.kill(pid, 'SIGKILL');
      if (given === undefined) rmSync(path, { recursive: true, force: true });
      assert.deepEqual(left, [], 'processes outlive what started them');
    },
  };
}
