// How a server is, in one word for the operator. Pure.

/** `idle`: nothing is open, and nothing is wrong: nobody has called, or the last link was closed for being unused. */
export type ServerState = 'up' | 'starting' | 'down' | 'idle';

export interface LinkFacts {
  readonly openLinks: number;
  readonly starting: number;
  /** The last link failed to open, or ended by itself, and none was opened since. */
  readonly isBroken: boolean;
}

export function serverState({ openLinks, starting, isBroken }: LinkFacts): ServerState {
  if (openLinks > 0) return 'up';
  // One that fails again and again is down between its starts and during them.
  if (isBroken) return 'down';
  return starting > 0 ? 'starting' : 'idle';
}
