// Waits for what can only be looked at, bounded, and says what it waited for in vain.
import { setTimeout as delay } from 'node:timers/promises';

const LOOK_EVERY_MS = 5;

/** Looks until `holds` is true; fails after `timeoutMs`, naming `what` was awaited. */
export async function eventually(
  what: string,
  holds: () => boolean | Promise<boolean>,
  timeoutMs = 15_000,
): Promise<void> {
  const until = performance.now() + timeoutMs;
  while (!(await holds())) {
    if (performance.now() > until) throw new Error(`waited ${timeoutMs} ms in vain until ${what}`);
    await delay(LOOK_EVERY_MS);
  }
}
