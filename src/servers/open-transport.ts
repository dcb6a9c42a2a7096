// Picks the wire for a server's config. The only place that knows which transports there are.
import type { ServerConfig } from '../config/config.ts';
import type { BufferBudget } from '../state/buffer-budget.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Caller } from './credentials/caller.ts';
import type { Credentials } from './credentials/credentials.ts';
import { openHttpTransport } from './http/http-transport.ts';
import type { Outbound } from './http/outbound.ts';
import { openSseTransport } from './http/sse-transport.ts';
import type { ServerStats } from './server-stats.ts';
import type { Guardian } from './stdio/guardian.ts';
import { type StdioTimings, startStdioTransport } from './stdio/stdio-transport.ts';
import type { ServerTransport, TransportEvents } from './transport.ts';

export interface WiredTransport {
  readonly transport: ServerTransport;
  /** Resolves at the first byte of a child; undefined where silence has no meaning. */
  readonly firstOutput: Promise<void> | undefined;
  /** Opens the stream of a legacy HTTP server's unsolicited messages; called once the handshake is done. */
  listen?(): void;
}

export interface TransportTerms {
  readonly events: TransportEvents;
  /** On whose behalf it is opened, where the server sees that. */
  readonly caller?: Caller | undefined;
  readonly signal: AbortSignal;
  /** It is one principal's, or one session's, alone. */
  readonly personal?: boolean;
  readonly stats?: ServerStats | undefined;
}

/** `signal` bounds the opening alone. Only the deprecated HTTP+SSE wire takes long enough to need it. */
export type OpenTransport = (config: ServerConfig, options: TransportTerms) => Promise<WiredTransport>;

export interface TransportOpenerOptions {
  readonly outbound: Outbound;
  readonly credentials: Credentials;
  readonly logger: Logger;
  /** What a wire holds of its messages counts here. */
  readonly budget: BufferBudget;
  readonly timings?: Partial<StdioTimings>;
  readonly guardian?: Guardian;
  /** Aborts when the gateway is told to end for the second time. */
  readonly hurry?: AbortSignal;
}

export function transportOpener(options: TransportOpenerOptions): OpenTransport {
  const { outbound, credentials, logger, budget, timings = {}, guardian, hurry } = options;
  return async (config, { events, caller, signal, personal = false, stats }) => {
    switch (config.type) {
      case 'stdio': {
        const transport = await startStdioTransport(await credentials.forProcess(config, caller), {
          events,
          logger,
          budget,
          signal,
          timings,
          personal,
          guardian,
          hurry,
          stats,
        });
        return { transport, firstOutput: transport.firstOutput };
      }
      case 'http': {
        const credential = credentials.forLink(config);
        await credential.present(caller, signal);
        const transport = openHttpTransport(config, { events, outbound, credential, logger, budget });
        return { transport, firstOutput: undefined, listen: () => transport.startEventStream() };
      }
      case 'sse': {
        const credential = credentials.forLink(config);
        await credential.present(caller, signal);
        const wires = { events, outbound, credential, logger, budget };
        return {
          transport: await openSseTransport(config, { ...wires, signal }),
          firstOutput: undefined,
        };
      }
    }
  };
}
