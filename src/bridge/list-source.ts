// Where a client sees what a server lists, on a view of several servers: on the link that its calls go to, or before
// there is one, on a link that lists are served from.
import type { ListSource } from '../federation/known-lists.ts';
import type { ClientRequest } from '../protocol/client-message.ts';
import type { JsonObject } from '../protocol/json-text.ts';
import type { Server } from '../servers/server.ts';
import type { CallingClient } from './calling-client.ts';
import { chooseLink, type LinkChooser, principalLinkKey, sessionLinkKey } from './choose-link.ts';
import { capabilitiesForModern, crossedCapabilities } from './client-features.ts';

export function listSource(server: Server, client: CallingClient): ListSource {
  const clientCapabilities = capabilitiesForModern(client, server.config.client);
  return {
    server,
    key: listKey(server, client, clientCapabilities),
    clientCapabilities,
    person: server.personal ? client.principal : undefined,
    open: () => chooseLink(server, client, LISTING, STARTS_NOTHING),
  };
}

/**
 * Shared servers know no caller from another but by what is declared with a request; to any other a list may be one
 * caller's own.
 */
function listKey(server: Server, client: CallingClient, clientCapabilities: JsonObject): string {
  const { session, principal } = client;
  if (session !== undefined && server.peekOwnLink(sessionLinkKey(session)) !== undefined) {
    return sessionLinkKey(session);
  }
  const peer = server.lastPeer;
  const declared = JSON.stringify(clientCapabilities);
  if (peer !== undefined && server.isolationFor(peer) === 'shared') {
    return peer.era === 'modern' ? `shared ${declared}` : 'shared';
  }
  const normal = crossedCapabilities(client.capabilities, server.config.client);
  const key = principalLinkKey(client, normal);
  if (server.peekOwnLink(key) !== undefined) return `own ${key} ${declared}`;
  return `${client.era} to ${peer?.era} ${principal} ${declared}`;
}

const LISTING: ClientRequest = {
  era: 'legacy',
  kind: 'request',
  id: 0,
  idText: '0',
  method: 'tools/list',
  params: undefined,
};
/** A list opens links for lists alone, and these say nothing to one client. */
const STARTS_NOTHING: LinkChooser = {
  onSessionMessage() {},
  onPrincipalMessage() {},
  endSession() {},
};
