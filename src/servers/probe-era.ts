// Finds out the era of a server by asking `server/discover`, and how long its silence is waited for.
import type { ServerConfig } from '../config/config.ts';
import type { JsonObject } from '../protocol/json-text.ts';
import { isRefusalByStatus } from './era-doubt.ts';
import { discover } from './handshake.ts';
import type { WiredTransport } from './open-transport.ts';
import type { ClientIdentity, Peer } from './peer.ts';
import { type StartClock, startClock } from './start-clock.ts';

const SILENCE_AFTER_OUTPUT_MS = 2_000;

export type Probe =
  | { readonly era: 'modern'; readonly peer: Peer }
  | { readonly era: 'legacy'; readonly unanswered?: UnansweredProbe };

/** A child that has not answered yet is taken for legacy, but its answer may still come. */
export interface UnansweredProbe {
  /** Resolves if it turns out to be modern after all; rejects when it is not, or when the probe is given up. */
  readonly modern: Promise<Peer>;
  giveUp(): void;
}

export interface ProbeOptions {
  readonly config: Pick<ServerConfig, 'type' | 'startTimeoutMs'>;
  readonly identity: ClientIdentity;
  readonly clientCapabilities: JsonObject;
  readonly signal: AbortSignal;
}

/** @throws GatewayError where the answer says nothing about the era */
export async function probeEra(wire: WiredTransport, options: ProbeOptions): Promise<Probe> {
  const clock = startClock(options.config.startTimeoutMs, options.signal);
  const answered = ask(wire, clock, options);
  answered.catch(() => {}).finally(() => clock.stop());
  const quiet = silence(wire);
  try {
    return await Promise.race([answered, quiet.promise.then(() => unanswered(answered, clock))]);
  } finally {
    quiet.stop();
  }
}

async function ask(
  wire: WiredTransport,
  clock: StartClock,
  { config, identity, clientCapabilities, signal }: ProbeOptions,
): Promise<Probe> {
  try {
    return await discover(wire.transport, { identity, clientCapabilities, signal: clock.signal });
  } catch (thrown) {
    if (signal.aborted) throw thrown;
    // A child that says nothing, or that exits at the sight of it.
    const mute = config.type === 'stdio' && (clock.signal.aborted || !wire.transport.open);
    if (mute || isRefusalByStatus(thrown)) return { era: 'legacy' };
    throw thrown;
  }
}

/**
 * A child that is up, as its first output shows, and does not answer will not. Many package runners talk long before
 * the server itself is there, though: so the answer is still taken should it come.
 */
function unanswered(answered: Promise<Probe>, clock: StartClock): Probe {
  const modern = answered.then((probe) => {
    if (probe.era === 'modern') return probe.peer;
    throw new Error('the server is not modern');
  });
  modern.catch(() => {});
  return {
    era: 'legacy',
    unanswered: { modern, giveUp: () => clock.abort(new Error('another answer came first')) },
  };
}

function silence({ firstOutput }: WiredTransport): { promise: Promise<void>; stop(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  void firstOutput?.then(() => {
    if (!stopped) timer = setTimeout(resolve, SILENCE_AFTER_OUTPUT_MS);
  });
  return {
    promise,
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
