// Picks the wire for a server's config. The only place that knows which transports there are.
import type { ServerConfig } from '../config/config.ts';
import type { ServerTransport, TransportEvents } from './transport.ts';

export interface WiredTransport {
  readonly transport: ServerTransport;
  /** Resolves at the first byte of a child; undefined where silence has no meaning. */
  readonly firstOutput: Promise<void> | undefined;
  /** Opens the stream of a legacy HTTP server's unsolicited messages; called once the handshake is done. */
  listen?(): void;
}

export type OpenTransport = (config: ServerConfig, events: TransportEvents) => Promise<WiredTransport>;
