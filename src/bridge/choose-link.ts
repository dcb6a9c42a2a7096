// Which link carries a call: one for everyone, one for the principal, or the session's own.
import type { ClientRequest } from '../protocol/client-message.ts';
import type { Era } from '../protocol/era.ts';
import { isJsonObject, type JsonObject } from '../protocol/json-text.ts';
import { isList } from '../protocol/methods.ts';
import type { LinkTerms } from '../servers/connector.ts';
import type { Caller } from '../servers/credentials/caller.ts';
import type { Server } from '../servers/server.ts';
import type { ServerLink } from '../servers/server-link.ts';
import type { ServerMessage } from '../servers/transport.ts';
import type { CallingClient } from './calling-client.ts';
import { declaredCapabilities, normalCapabilities } from './client-features.ts';
import type { LegacySession } from './sessions/legacy-session.ts';

export interface LinkChooser {
  /** A message of a session's own link that its wire ties to no call. */
  onSessionMessage(session: LegacySession, message: ServerMessage, link: ServerLink): void;
  /** A session has to give up its link to others: it ends, and its client starts a new one. */
  endSession(session: LegacySession): void;
  /** The same of a principal's link. `owner` is what `linkOwner` makes of its key, `principal` whose it is. */
  onPrincipalMessage(
    message: ServerMessage,
    link: ServerLink,
    of: { readonly owner: string; readonly principal: string },
  ): void;
}

/**
 * What `chooseLink` would give, where that is open already and nothing has to be waited for: the usual case, which then
 * costs no timer and no turn of the loop. Undefined where it takes more.
 *
 * @throws the reason that the session ended with
 */
export function linkInPlace(server: Server, { session, caller }: CallingClient): ServerLink | undefined {
  const own = session && server.peekOwnLink(sessionLinkKey(session));
  if (own !== undefined) return own;
  const catalogue = server.peekCatalogueLink(caller);
  session?.ended.throwIfAborted();
  return catalogue && carriesCalls(server, catalogue) ? catalogue : undefined;
}

/**
 * Opens the link where it is not open yet.
 *
 * @throws GatewayError server-unavailable, no-capacity
 */
export async function chooseLink(
  server: Server,
  client: CallingClient,
  request: ClientRequest,
  chooser: LinkChooser,
): Promise<ServerLink> {
  const { session } = client;
  const own = session && server.peekOwnLink(sessionLinkKey(session));
  if (own !== undefined) return own;
  const { caller } = client;
  const catalogue = await server.catalogueLink(caller);
  // Its session may have ended meanwhile, and with it whoever would close a link that is opened now.
  session?.ended.throwIfAborted();
  if (carriesCalls(server, catalogue)) return catalogue;
  const isolation = server.isolationFor(catalogue.peer) === 'principal' ? 'principal' : 'session';
  if (isList(request.method)) return listLink(server, client, catalogue);
  const declared = linkCapabilities(server, client, isolation);
  const normal = normalCapabilities(declared);
  const toLegacy = catalogue.peer.era === 'legacy';
  if (toLegacy && isListenToLists(request)) return catalogue;
  if (client.era === 'modern' || isolation === 'principal' || session === undefined) {
    const key = principalLinkKey(client, normal);
    const { principal } = client;
    const of = { owner: linkOwner(server, key), principal };
    return server.ownLink({
      key,
      caller,
      owner: principal,
      pinned: false,
      clientCapabilities: normal,
      onUnsolicited: (message, link) => chooser.onPrincipalMessage(message, link, of),
    });
  }
  const clientCapabilities = toLegacy ? declared : normal;
  return openSessionLink(server, session, { caller, clientCapabilities, chooser });
}

export interface SessionLinkTerms extends Pick<LinkTerms, 'clientCapabilities' | 'caller'> {
  readonly chooser: Pick<LinkChooser, 'onSessionMessage' | 'endSession'>;
}

/** A session's own link, in the session at the server that a former owner of it had, if there is one. */
async function openSessionLink(
  server: Server,
  session: LegacySession,
  { chooser, ...terms }: SessionLinkTerms,
): Promise<ServerLink> {
  session.servers.add(server);
  if (server.config.type === 'stdio') await session.kept.claimProcess();
  session.ended.throwIfAborted();
  const link = await server.ownLink({
    ...terms,
    key: sessionLinkKey(session),
    owner: session.record.principal,
    pinned: true,
    giveWay() {
      if (session.busy) return false;
      chooser.endSession(session);
      return true;
    },
    offeredVersion: session.record.version,
    inherited: () => session.kept.inherit(server.config),
    onUnsolicited: (message, own) => chooser.onSessionMessage(session, message, own),
  });
  session.noteLink(server.config, link);
  return link;
}

/** Goes on, in the background, in the sessions at servers that a former owner had: they may have something to say. */
export function openInheritedLinks(
  session: LegacySession,
  servers: ReadonlyMap<string, Server>,
  { caller, chooserFor }: { readonly caller: Caller; chooserFor(server: Server): LinkChooser },
): void {
  const { clientCapabilities: capabilities, principal } = session.record;
  for (const slug of session.kept.heirlooms) {
    const server = servers.get(slug);
    if (server === undefined || !['auto', 'session'].includes(server.config.isolation)) continue;
    const client = { era: 'legacy', principal, caller, capabilities } as const;
    const clientCapabilities = linkCapabilities(server, client, 'session');
    // What fails now fails again for the call that needs it.
    openSessionLink(server, session, { caller, clientCapabilities, chooser: chooserFor(server) }).catch(
      () => {},
    );
  }
}

/** Whether a server's catalogue link is where calls to it go too, whoever makes them. */
export function carriesCalls(server: Server, catalogue: ServerLink): boolean {
  const isolation = server.isolationFor(catalogue.peer);
  // A modern server keeps nothing by connection; its catalogue link is the person's own where it is personal.
  return (
    isolation === 'shared' ||
    (server.personal && isolation === 'principal' && catalogue.peer.era === 'modern')
  );
}

/** A client as far as it decides what a server shows to it. */
export type Onlooker = Pick<CallingClient, 'era' | 'principal' | 'caller' | 'capabilities'>;

/**
 * Where a client of a server that is not shared sees its lists. They may depend on what was called before, so they come
 * from where the calls go; until there is such a link, from one that was told the same of the client.
 */
export async function listLink(server: Server, client: Onlooker, catalogue: ServerLink): Promise<ServerLink> {
  const isolation = server.isolationFor(catalogue.peer);
  if (isolation === 'shared') return catalogue;
  const normal = normalCapabilities(linkCapabilities(server, client, isolation));
  const own = server.peekOwnLink(principalLinkKey(client, normal));
  return own ?? (catalogue.peer.era === 'legacy' ? server.catalogueLink(client.caller, normal) : catalogue);
}

/**
 * What is declared on the link that carries a client's calls. Several sessions may be behind one principal, and a
 * question of their link would name none of them.
 */
function linkCapabilities(
  server: Server,
  { era, capabilities }: Onlooker,
  isolation: 'principal' | 'session',
): JsonObject {
  if (era === 'legacy' && isolation === 'principal') return {};
  return declaredCapabilities(capabilities, server.config.client, { fixedRoots: true });
}

/** The capabilities of a legacy handshake are fixed, a modern client's come with each request. */
export function principalLinkKey({ era, principal }: Onlooker, normal: JsonObject): string {
  return `principal ${principal} ${era === 'modern' ? JSON.stringify(normal) : 'legacy'}`;
}

/** Names the links of one key at one server, whichever of them is open. */
export function linkOwner({ slug }: Pick<Server, 'slug'>, key: string): string {
  return `${slug} ${key}`;
}

/** Whether those links are a principal's, whatever was declared on them. */
export function isLinkOf(owner: string, server: Pick<Server, 'slug'>, principal: string): boolean {
  return owner.startsWith(linkOwner(server, `principal ${principal} `));
}

/**
 * Whether a request goes to a child process that is its caller's own, rather than its session's or everyone's. There is
 * one for a principal, however many replicas there are.
 *
 * @param learnEra asks for the server's era where it is not known, and matters
 */
export async function callsOwnProcess(
  server: Server,
  { era, request }: { era: Era; request: ClientRequest | undefined },
  learnEra: () => Promise<Era>,
): Promise<boolean> {
  const { type, isolation } = server.config;
  if (type !== 'stdio' || isolation === 'shared') return false;
  if (request !== undefined && (isList(request.method) || isListenToLists(request))) return false;
  if (isolation === 'principal') return true;
  // A legacy client's session has one of its own.
  if (era === 'legacy') return isolation === 'auto' && server.personal && (await learnEra()) === 'modern';
  return isolation === 'session' || server.personal || (await learnEra()) === 'legacy';
}

/** A listen attaches to links, and starts none but to subscribe to resources. */
function isListenToLists({ method, params }: ClientRequest): boolean {
  if (method !== 'subscriptions/listen') return false;
  const uris = isJsonObject(params?.notifications) ? params.notifications.resourceSubscriptions : undefined;
  return !Array.isArray(uris) || uris.length === 0;
}

export function sessionLinkKey(session: LegacySession): string {
  return `session ${session.key}`;
}
