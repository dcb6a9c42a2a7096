// What concerns every server of a view, rather than one of them: lists, introductions, ping, the log level. It is asked
// of all that the caller may use, and the failures of some are forgiven.
import type { Onlooker } from '../bridge/choose-link.ts';
import { publicCapabilities } from '../bridge/introduction.ts';
import { peerForClient } from '../bridge/peer-for-client.ts';
import { setLogLevel } from '../bridge/sessions/session-log-level.ts';
import { GatewayError } from '../errors.ts';
import {
  composedCapabilities,
  composedInstructions,
  type IntroducedServer,
} from '../federation/composed-introduction.ts';
import { type Era, META, SUPPORTED_VERSIONS } from '../protocol/era.ts';
import type { JsonRpcOutcome } from '../protocol/json-rpc.ts';
import type { JsonObject } from '../protocol/json-text.ts';
import { isLogLevel } from '../protocol/log-levels.ts';
import { isList } from '../protocol/methods.ts';
import type { StopSignal } from '../runtime/stop.ts';
import type { Peer } from '../servers/peer.ts';
import type { Server } from '../servers/server.ts';
import type { CallForAll } from './call-for-all.ts';
import type { GatewayContext } from './gateway-context.ts';
import { listAll } from './list-all.ts';
import type { View, ViewMember } from './view.ts';

/** @throws GatewayError; where all servers fail, the first one's */
export async function answerForAll(gateway: GatewayContext, call: CallForAll): Promise<JsonRpcOutcome> {
  const { request } = call;
  if (isList(request.method)) return { result: await listAll(gateway, call) };
  switch (`${request.era} ${request.method}`) {
    case 'legacy ping':
      return { result: {} };
    case 'legacy logging/setLevel':
      return { result: await setLevelOfAll(call) };
    case 'modern server/discover':
      return { result: await discoverAll(gateway, call) };
    case 'legacy completion/complete':
    case 'modern completion/complete':
      throw new GatewayError('params-invalid', {
        text: 'completion/complete needs a `ref` to a prompt or to a template of resources',
      });
    default:
      throw new GatewayError('method-unknown');
  }
}

/** The members of an `initialize` result that speak of servers. */
export async function introduceAll(
  gateway: GatewayContext,
  view: View,
  { clientAt, signal }: { clientAt: (member: ViewMember) => Onlooker; signal: StopSignal },
): Promise<{ capabilities: JsonObject; serverInfo: JsonObject; instructions?: string }> {
  const patience = { timeoutMs: gateway.config.lists.timeoutMs, signal };
  const greeted = await Promise.allSettled(
    view.members.map((member) => peerOf(member.server, clientAt(member), patience)),
  );
  signal.throwIfAborted();
  const servers = greeted.flatMap((outcome, index): IntroducedServer[] => {
    const member = view.members[index];
    return outcome.status === 'fulfilled' && member !== undefined
      ? [introduced(member, outcome.value, clientAt(member).era)]
      : [];
  });
  const [failed] = greeted.filter(({ status }) => status === 'rejected');
  if (servers.length === 0 && failed?.status === 'rejected') throw failed.reason;
  const instructions = composedInstructions(servers);
  return {
    capabilities: composedCapabilities(servers),
    serverInfo: { ...gateway.identity },
    ...(instructions === undefined ? {} : { instructions }),
  };
}

/** One that is down is what it said last. */
async function peerOf(
  server: Server,
  client: Onlooker,
  patience: { timeoutMs: number; signal: StopSignal },
): Promise<Peer> {
  try {
    return await peerForClient(server, client, patience);
  } catch (thrown) {
    if (server.lastPeer === undefined) throw thrown;
    return server.lastPeer;
  }
}

function introduced({ server, access }: ViewMember, peer: Peer, era: Era): IntroducedServer {
  const isolation = server.isolationFor(peer);
  const ownLink = era === 'legacy' ? isolation === 'session' : isolation !== 'shared';
  return {
    name: server.config.name,
    prefix: server.config.prefix,
    capabilities: publicCapabilities(peer, era, { ownLink, access }),
    instructions: peer.instructions,
  };
}

async function discoverAll(
  gateway: GatewayContext,
  { view, clientAt, signal }: CallForAll,
): Promise<JsonObject> {
  const { serverInfo, ...introduction } = await introduceAll(gateway, view, { clientAt, signal });
  return {
    resultType: 'complete',
    supportedVersions: [...SUPPORTED_VERSIONS],
    ...introduction,
    ttlMs: gateway.config.lists.ttlMs,
    cacheScope: 'private',
    _meta: { [META.serverInfo]: serverInfo },
  };
}

async function setLevelOfAll({ request, view, session }: CallForAll): Promise<JsonObject> {
  const hasLogging = ({ server }: ViewMember) => server.lastPeer?.capabilities.logging !== undefined;
  if (!view.members.some(hasLogging)) throw new GatewayError('method-unknown');
  const level = request.params?.level;
  if (!isLogLevel(level)) {
    throw new GatewayError('params-invalid', { text: 'level must be one of the log levels of RFC 5424' });
  }
  if (session !== undefined)
    await setLogLevel(
      session,
      level,
      view.members.map(({ server }) => server),
    );
  return {};
}
