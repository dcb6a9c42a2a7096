// What must always be true of gateways that ran in a test's own process, however they were used.
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { BufferBudget } from '../../src/state/buffer-budget.ts';
import type { GatewayLogs } from './gateway-logs.ts';
import type { LiveHandles } from './live-handles.ts';
import { processesIn } from './process-tree.ts';

const GONE_WITHIN_MS = 3_000;

export interface GatewayEnd {
  /** Where their children ran. */
  readonly folder: string;
  readonly handles: LiveHandles;
  readonly logs: GatewayLogs;
  readonly secrets: readonly string[];
  /** One a gateway. */
  readonly budgets: readonly BufferBudget[];
}

/** No child, no socket and no timer is left, no secret was told, and no byte is still counted. */
export async function assertCleanEnd({ folder, handles, logs, secrets, budgets }: GatewayEnd): Promise<void> {
  const until = performance.now() + GONE_WITHIN_MS;
  const left = () => [...processesIn(folder).map((pid) => `process ${pid}`), ...handles.remaining()];
  while (left().length > 0 && performance.now() < until) await delay(10);
  assert.deepEqual(left(), [], 'the gateway left something behind');
  const logged = JSON.stringify(logs.lines);
  for (const secret of secrets) assert.ok(!logged.includes(secret), 'the gateway logged a secret');
  for (const { usedBytes } of budgets)
    assert.equal(usedBytes, 0, 'the gateway still counts bytes that it held');
}
