// What keeps a process busy and was begun by the code under src: timers (the unreferenced ones too) and sockets. For
// tests that assert that nothing of a gateway outlives it.
import { createHook } from 'node:async_hooks';

const SOURCES = new URL('../../src/', import.meta.url).href;
const SOCKETS: ReadonlySet<string> = new Set(['TCPWRAP', 'TCPSERVERWRAP', 'PIPEWRAP', 'PROCESSWRAP']);
/** Nobody can end them early: they are let go with their signal, at their time at the latest. */
const UNENDING = /AbortSignal\.(?:timeout|any)/;

export interface LiveHandles {
  /**
   * What is still there, each with the line that made it; empty when all is gone. While others watch too nobody can
   * tell whose a handle is: then it is for the last of them to look.
   */
  remaining(): string[];
  stop(): void;
}

let watchers = 0;

/** Watches from now on. */
export function watchHandles(): LiveHandles {
  watchers += 1;
  const alive = new Map<number, string>();
  const hook = createHook({
    init(id, type) {
      const isTimer = type === 'Timeout';
      if (!isTimer && !SOCKETS.has(type)) return;
      const stack = callersOf(new Error().stack ?? '');
      const owner = isTimer ? stack[0] : stack.find((line) => line.includes(SOURCES));
      if (owner?.includes(SOURCES)) alive.set(id, `${type} ${owner.slice(owner.indexOf(SOURCES))}`);
    },
    destroy(id) {
      alive.delete(id);
    },
    trackPromises: false,
  });
  hook.enable();
  return {
    remaining: () => (watchers > 1 ? [] : [...alive.values()]),
    stop() {
      watchers -= 1;
      hook.disable();
    },
  };
}

/** The frames that are no part of Node, innermost first; none for what ends by itself. */
function callersOf(stack: string): string[] {
  if (UNENDING.test(stack)) return [];
  const frames = stack.split('\n').slice(2);
  return frames.filter((frame) => !frame.includes('node:') && !frame.includes(import.meta.url));
}
