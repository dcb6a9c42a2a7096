// What a server says of itself to one client: servers shape even that by what their clients can do.
import type { StopSignal } from '../runtime/stop.ts';
import type { Peer } from '../servers/peer.ts';
import type { Server } from '../servers/server.ts';
import type { ServerLink } from '../servers/server-link.ts';
import { withinTime } from '../servers/within-time.ts';
import { listLink, type Onlooker } from './choose-link.ts';
import { capabilitiesForModern } from './client-features.ts';

/**
 * Waits for at most `timeoutMs`; should there be no answer to this client by then, what the server says to any client is
 * better than none.
 *
 * @throws GatewayError server-unavailable, deadline-passed; or the signal's reason
 */
export async function peerForClient(
  server: Server,
  client: Onlooker,
  { timeoutMs, signal }: { timeoutMs: number; signal: StopSignal },
): Promise<Peer> {
  const startedAt = performance.now();
  const catalogue = await withinTime(server.catalogueLink(client.caller), timeoutMs, signal);
  await catalogue.present(client.caller, signal);
  const leftMs = Math.max(0, timeoutMs - (performance.now() - startedAt));
  return withinTime(askPeer(server, client, catalogue), leftMs, signal).catch(() => {
    signal.throwIfAborted();
    return catalogue.peer;
  });
}

async function askPeer(server: Server, client: Onlooker, catalogue: ServerLink): Promise<Peer> {
  if (catalogue.peer.era === 'modern') {
    return catalogue.peerFor(capabilitiesForModern(client, server.config.client));
  }
  return (await listLink(server, client, catalogue)).peer;
}
