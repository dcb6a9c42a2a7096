// `subscriptions/listen` of a modern client on a legacy server: list changes come from the links that lists are served
// from, resource updates from subscriptions on the caller's own link.

import { GatewayError } from '../../errors.ts';
import { META } from '../../protocol/era.ts';
import { isJsonObject, type JsonObject, type JsonValue, readJson } from '../../protocol/json-text.ts';
import { type ListChange, promisedListChanges } from '../../protocol/list-changes.ts';
import type { StopSignal } from '../../runtime/stop.ts';
import type { ServerLink } from '../../servers/server-link.ts';
import type { ServerMessage } from '../../servers/transport.ts';
import { unlessAborted, untilAborted } from '../../servers/within-time.ts';
import type { CarriedCall } from '../carried-call.ts';
import { linkOwner, principalLinkKey } from '../choose-link.ts';
import { crossedCapabilities } from '../client-features.ts';
import type { StandingListen } from './standing-listen.ts';

const MAX_URIS = 256;

/** Resolves once it stands where the call takes it over then, else once it is over. */
export async function carryLegacyListen(carried: CarriedCall): Promise<'ok' | 'error'> {
  const { call, bridge } = carried;
  const { request, output, link, server, signal } = call;
  const { notifications } = carried.context.request.params ?? {};
  const filter = isJsonObject(notifications) ? notifications : {};
  const hub = bridge.hubs.of(link);
  const listChanges = honouredListChanges(filter, link.peer.capabilities);
  const wantedMethods = new Set<string>(listChanges.map(({ method }) => method));
  const uris = new Set<string>();
  const _meta = { [META.subscriptionId]: readJson(request.idText) as JsonValue };
  const held: ServerMessage[] = [];
  let acknowledged = false;

  const deliver = (message: ServerMessage) => {
    if (!acknowledged) {
      held.push(message);
      return;
    }
    const meta = isJsonObject(message.params?._meta) ? message.params._meta : {};
    void output.send({ ...message, params: { ...message.params, _meta: { ...meta, ..._meta } } });
  };
  const receive = (message: ServerMessage) => {
    const { uri } = message.params ?? {};
    const isUpdate =
      message.method === 'notifications/resources/updated' && typeof uri === 'string' && uris.has(uri);
    if (isUpdate || wantedMethods.has(message.method)) deliver(message);
  };
  const declared = crossedCapabilities(call.client.capabilities, server.config.client);
  const owner = linkOwner(server, principalLinkKey(call.client, declared));
  const stops = [bridge.hubs.listen(owner, receive), server.onSharedMessage(receive, call.client.principal)];
  const close = () => {
    for (const stop of stops) stop();
    for (const uri of uris) hub.subscriptions.remove(uri);
  };
  try {
    for (const uri of wantedUris(filter, link.peer.capabilities)) {
      if (await hub.subscriptions.add(uri, signal)) uris.add(uri);
    }
    const agreed: JsonObject = Object.fromEntries(listChanges.map(({ filter: name }) => [name, true]));
    if (uris.size > 0) agreed.resourceSubscriptions = [...uris];
    void output.send({
      jsonrpc: '2.0',
      method: 'notifications/subscriptions/acknowledged',
      params: { _meta, notifications: agreed },
    });
    acknowledged = true;
    for (const message of held.splice(0)) deliver(message);
  } catch (thrown) {
    close();
    throw thrown;
  }
  const { idText } = request;
  const complete = () => output.respond(idText, { result: { resultType: 'complete', _meta } }, 200);
  const standing: StandingListen = {
    // What is subscribed is gone with its link; without that, no link matters.
    untilOver: (until) =>
      untilOver(uris.size === 0 ? undefined : hub.link, until)
        .then(complete)
        .finally(close),
  };
  if (call.onStanding === undefined) await standing.untilOver(signal);
  else call.onStanding(standing);
  return 'ok';
}

function honouredListChanges(filter: JsonObject, capabilities: JsonObject): ListChange[] {
  return promisedListChanges(capabilities).filter(({ filter: name }) => filter[name] === true);
}

function wantedUris(filter: JsonObject, { resources }: JsonObject): string[] {
  if (!isJsonObject(resources) || resources.subscribe !== true) return [];
  const wanted = Array.isArray(filter.resourceSubscriptions) ? filter.resourceSubscriptions : [];
  const uris = [...new Set(wanted.filter((uri) => typeof uri === 'string'))];
  if (uris.length > MAX_URIS)
    throw new GatewayError('params-invalid', { text: `At most ${MAX_URIS} resources a stream` });
  return uris;
}

/** Resolves when the link closes, if it is one that counts; rejects with the signal's reason. */
function untilOver(link: ServerLink | undefined, signal: StopSignal): Promise<void> {
  return link === undefined ? untilAborted(signal) : unlessAborted(link.closed, signal);
}
