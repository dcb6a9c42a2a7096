// `subscriptions/listen` of a modern client on a view of several servers: word of changed lists comes from all of them,
// resource updates from one listen a server; to the client it is one stream, with one beginning and one end.

import { principalKey } from '../access/principal.ts';
import type { CallOutput } from '../bridge/call-output.ts';
import { linkOwner, principalLinkKey } from '../bridge/choose-link.ts';
import { crossedCapabilities } from '../bridge/client-features.ts';
import { CoalescedChanges } from '../bridge/listening/coalesced-changes.ts';
import { heardOutput } from '../bridge/listening/heard-messages.ts';
import { publicOutput } from '../bridge/public-output.ts';
import { GatewayError } from '../errors.ts';
import { viewNames } from '../federation/merged-list.ts';
import type { ModernRequest } from '../protocol/client-message.ts';
import { exactId } from '../protocol/json-rpc.ts';
import { isJsonObject, type JsonObject, type JsonValue, writeJson } from '../protocol/json-text.ts';
import { LIST_CHANGES, type ListChange } from '../protocol/list-changes.ts';
import { subscriptionMeta } from '../protocol/subscription.ts';
import { eitherOf, Stop, type StopSignal } from '../runtime/stop.ts';
import type { Server } from '../servers/server.ts';
import { type Dispatch, dispatchRequest, noteRequest } from './dispatch-request.ts';
import type { Exchange } from './exchange.ts';
import { repeatedOn } from './forward-exchange.ts';
import type { GatewayContext } from './gateway-context.ts';
import { HeardReply } from './heard-reply.ts';
import { HeldStream } from './held-stream.ts';
import { liveMember } from './live-access.ts';
import { forwardHome, homeOfRequest } from './principal-home.ts';
import { type ClientAt, routeOnView } from './route-on-view.ts';
import { leaveStanding } from './standing-stream.ts';
import type { View, ViewMember } from './view.ts';

export interface ListenToAll {
  readonly request: ModernRequest;
  readonly view: View;
  readonly clientAt: ClientAt;
}

const MAX_URIS = 256;

/** Resolves when the stream stands. What one server cannot do is left out of what is agreed to. */
export async function listenToAll(
  gateway: GatewayContext,
  exchange: Exchange,
  call: ListenToAll,
): Promise<void> {
  const { signedOut } = exchange;
  const { request } = call;
  if (signedOut.aborted) throw new GatewayError('token-invalid', { reason: 'expired' });
  const principal = principalKey(exchange.principal);
  const place = gateway.streams.enter(principal, gateway.config.streams.maxPerPrincipal);
  const _meta = subscriptionMeta(request.idText);
  const { notifications } = request.params;
  const filter = isJsonObject(notifications) ? notifications : {};
  const open = gateway.listens.open(exchange, request.idText, new HeardReply(gateway, exchange));
  const stream = new HeldStream((message) => void open.send(message));
  const changes = new CoalescedChanges((method) => {
    stream.send({ jsonrpc: '2.0', method, params: { _meta } });
  });
  const kinds = honouredKinds(call.view, filter);
  const memberNow = liveMember(gateway.current, exchange);
  const stop = hearChanges(gateway, { ...call, principal, memberNow }, kinds, changes);
  let listens: ResourceListen[] = [];
  const close = async () => {
    stop();
    changes.close();
    await Promise.all(listens.map(({ ended }) => ended));
    noteRequest(exchange, request, undefined);
  };
  try {
    listens = await startListens(gateway, exchange, { ...call, filter, signal: open, stream });
    // What was never begun does not end the others.
    for (const { honoured, ended } of listens) if (honoured.length > 0) void ended.then(() => open.abort());
    const agreed: JsonObject = Object.fromEntries(kinds.map(({ filter: name }) => [name, true]));
    const uris = listens.flatMap(({ honoured }) => honoured);
    if (uris.length > 0) agreed.resourceSubscriptions = uris;
    const acknowledged = 'notifications/subscriptions/acknowledged';
    void open.send({ jsonrpc: '2.0', method: acknowledged, params: { _meta, notifications: agreed } });
    stream.release();
  } catch (thrown) {
    open.abort(thrown);
    open.close();
    place.leave();
    await close();
    throw thrown;
  }
  leaveStanding(exchange, { open, place, listen: { linkGone: undefined, close } });
}

/** Of the kinds asked for, those that a server of the view has, or may turn out to have. */
function honouredKinds({ members }: View, filter: JsonObject): ListChange[] {
  return LIST_CHANGES.filter(({ filter: name, capability }) => {
    if (filter[name] !== true) return false;
    return members.some(({ server: { lastPeer }, access }) => {
      const has = lastPeer === undefined || lastPeer.capabilities[capability] !== undefined;
      return has && access.sees(capability);
    });
  });
}

type MemberNow = ReturnType<typeof liveMember>;

/** From the links that lists are served from, and from those of the client's own. */
function hearChanges(
  { catalogue, bridge }: GatewayContext,
  { view, clientAt, principal, memberNow }: ListenToAll & { principal: string; memberNow: MemberNow },
  kinds: readonly ListChange[],
  changes: CoalescedChanges,
): () => void {
  const heardOf = ({ slug }: Server, method: string) => {
    const kind = kinds.find((each) => each.method === method);
    if (kind !== undefined && memberNow(slug)?.sees(kind.capability)) changes.note(method);
  };
  const stops = [
    catalogue.onListChanged((changed, method, person) => {
      if (person !== undefined && person !== principal) return;
      heardOf(changed, method);
    }),
    ...view.members.map((member) => {
      const { server } = member;
      const client = clientAt(member);
      const declared = crossedCapabilities(client.capabilities, server.config.client);
      const owner = linkOwner(server, principalLinkKey(client, declared));
      return bridge.hubs.listen(owner, ({ method }) => heardOf(server, method));
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

interface ResourceListen {
  /** URIs, as the client knows them. */
  readonly honoured: readonly JsonValue[];
  /** Resolves when the server's part is over, whatever ended it. */
  readonly ended: Promise<void>;
}

interface ListenOptions extends ListenToAll {
  readonly filter: JsonObject;
  readonly signal: StopSignal;
  readonly stream: HeldStream;
}

async function startListens(
  gateway: GatewayContext,
  exchange: Exchange,
  options: ListenOptions,
): Promise<ResourceListen[]> {
  const byMember = await wantedByMember(gateway, exchange, options);
  const started = [...byMember].map(([member, uris]) =>
    startListen(gateway, exchange, { ...options, member, uris }),
  );
  return Promise.all(started);
}

/** Each server's own URIs of what the caller may read. */
async function wantedByMember(
  gateway: GatewayContext,
  { principal }: Exchange,
  { request, view, clientAt, filter, signal }: ListenOptions,
): Promise<Map<ViewMember, string[]>> {
  const wanted = Array.isArray(filter.resourceSubscriptions) ? filter.resourceSubscriptions : [];
  const uris = [...new Set(wanted.filter((uri) => typeof uri === 'string'))];
  if (uris.length > MAX_URIS) {
    throw new GatewayError('params-invalid', { text: `At most ${MAX_URIS} resources a stream` });
  }
  const byMember = new Map<ViewMember, string[]>();
  const options = { view, clientAt, principal: principalKey(principal), signal };
  for (const uri of uris) {
    const subscribe = { ...request, method: 'resources/subscribe', params: { uri } };
    const route = await routeOnView(gateway, subscribe, options).catch(() => undefined);
    const own = route?.request.params.uri;
    if (route === undefined || typeof own !== 'string') continue;
    const { verdict } = route.member.access.decide('resources', own, { arguments: {} });
    if (verdict === 'allowed') byMember.set(route.member, [...(byMember.get(route.member) ?? []), own]);
  }
  return byMember;
}

/** Resolves with what the server acknowledged, or with nothing where it does not before time, or room, is over. */
async function startListen(
  gateway: GatewayContext,
  exchange: Exchange,
  { request, clientAt, signal, stream, member, uris }: ListenOptions & { member: ViewMember; uris: string[] },
): Promise<ResourceListen> {
  const { server, access } = member;
  const late = new Stop();
  const acknowledged = Promise.withResolvers<readonly JsonValue[]>();
  const output: CallOutput = {
    send(message) {
      if (!('method' in message) || message.method !== 'notifications/subscriptions/acknowledged') {
        stream.send(message);
        return undefined;
      }
      const agreed = message.params?.notifications;
      const honoured = isJsonObject(agreed) ? agreed.resourceSubscriptions : undefined;
      acknowledged.resolve(Array.isArray(honoured) ? honoured : []);
      return undefined;
    },
    respond() {},
    end() {},
  };
  const { _meta } = request.params;
  const notifications: JsonObject = { resourceSubscriptions: uris };
  const own: ModernRequest = {
    ...request,
    params: { ...(_meta === undefined ? {} : { _meta }), notifications },
  };
  const listening = listenAt(gateway, exchange, {
    request: own,
    client: clientAt(member),
    server,
    output: heardOutput(publicOutput(output, own.method, viewNames(server.slug)), access),
    signal: eitherOf(signal, late),
  }).catch(() => undefined);
  const giveUp = () => {
    late.abort();
    acknowledged.resolve([]);
  };
  const timer = setTimeout(giveUp, gateway.config.lists.timeoutMs);
  stream.full.addEventListener('abort', giveUp);
  const ended = listening.then(() => acknowledged.resolve([]));
  const honoured = await acknowledged.promise;
  clearTimeout(timer);
  stream.full.removeEventListener('abort', giveUp);
  return { honoured, ended };
}

/** One server's part, wherever the link to it is; what it learns for the record is of one server alone. */
async function listenAt(
  gateway: GatewayContext,
  exchange: Exchange,
  {
    request,
    ...call
  }: Pick<Dispatch, 'client' | 'server' | 'output' | 'signal'> & { request: ModernRequest },
): Promise<void> {
  const { server, output, signal } = call;
  const home = await homeOfRequest(gateway, exchange, { request, server });
  const { method, params } = request;
  const body = Buffer.from(writeJson({ jsonrpc: '2.0', id: exactId(request), method, params }));
  const own = Object.create(exchange, { record: { value: { ...exchange.record } } });
  // In the server's own words, so on its own view.
  const forward = { home, signal, instead: { view: server.slug, body }, reply: repeatedOn(output, () => {}) };
  if (await forwardHome(gateway, own, forward)) return;
  await dispatchRequest(gateway, exchange, {
    ...call,
    asked: request,
    request,
    hidden: false,
    sessionCall: undefined,
  });
}
