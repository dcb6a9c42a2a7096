// `subscriptions/listen` of a modern client on a legacy server: list changes come from the links that lists are served
// from, resource updates from subscriptions on the caller's own link.
import { GatewayError } from '../../errors.ts';
import { isJsonObject, type JsonObject } from '../../protocol/json-text.ts';
import { type ListChange, promisedListChanges } from '../../protocol/list-changes.ts';
import { subscriptionComplete, subscriptionMeta } from '../../protocol/subscription.ts';
import type { StopSignal } from '../../runtime/stop.ts';
import type { ServerMessage } from '../../servers/transport.ts';
import type { CallOutput } from '../call-output.ts';
import type { CarriedCall } from '../carried-call.ts';
import { linkOwner, principalLinkKey } from '../choose-link.ts';
import { crossedCapabilities } from '../client-features.ts';
import type { LinkHub } from './link-hub.ts';
import type { StandingListen } from './standing-listen.ts';

const MAX_URIS = 256;

/** Resolves once it stands where the call takes it over then, else once it is over. */
export async function carryLegacyListen(carried: CarriedCall): Promise<'ok' | 'error'> {
  const { call, bridge } = carried;
  const { client, request, output, link, server, signal } = call;
  const { notifications } = carried.context.request.params ?? {};
  const filter = isJsonObject(notifications) ? notifications : {};
  const { capabilities } = link.peer;
  const listen = new LegacyListen(output, request.idText, honouredListChanges(filter, capabilities));
  const declared = crossedCapabilities(client.capabilities, server.config.client);
  const owner = linkOwner(server, principalLinkKey(client, declared));
  const hear = (message: ServerMessage) => listen.hear(message);
  listen.keepStops(bridge.hubs.listen(owner, hear), server.onSharedMessage(hear, client.principal));
  try {
    await listen.subscribe(bridge.hubs.of(link), wantedUris(filter, capabilities), signal);
    listen.acknowledge();
  } catch (thrown) {
    await listen.close();
    throw thrown;
  }
  if (call.onStanding === undefined) await runOut(listen, signal);
  else call.onStanding(listen);
  return 'ok';
}

/** @throws the signal's reason */
async function runOut(listen: LegacyListen, signal: StopSignal): Promise<void> {
  const { linkGone } = listen;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const end = () => (signal.aborted ? reject(signal.reason) : resolve());
  signal.addEventListener('abort', end);
  linkGone?.addEventListener('abort', end);
  if (signal.aborted || linkGone?.aborted) end();
  try {
    await promise;
    listen.complete();
  } finally {
    signal.removeEventListener('abort', end);
    linkGone?.removeEventListener('abort', end);
    await listen.close();
  }
}

/** One object and few functions: thousands may stand. */
class LegacyListen implements StandingListen {
  readonly #output: CallOutput;
  readonly #idText: string;
  readonly #listChanges: readonly ListChange[];
  #stops: readonly (() => void)[] = [];
  #hub: LinkHub | undefined;
  #uris: string[] = [];
  /** What was heard before the acknowledgement. */
  #held: ServerMessage[] | undefined = [];

  constructor(output: CallOutput, idText: string, listChanges: readonly ListChange[]) {
    this.#output = output;
    this.#idText = idText;
    this.#listChanges = listChanges;
  }

  /** What is subscribed is gone with its link; without that, no link matters. */
  get linkGone(): StopSignal | undefined {
    return this.#hub?.gone;
  }

  keepStops(...stops: (() => void)[]): void {
    this.#stops = stops;
  }

  hear(message: ServerMessage): void {
    if (!this.#concerns(message)) return;
    if (this.#held === undefined) this.#deliver(message);
    else this.#held.push(message);
  }

  async subscribe(hub: LinkHub, uris: readonly string[], signal: StopSignal): Promise<void> {
    for (const uri of uris) {
      if (!(await hub.subscriptions.add(uri, signal))) continue;
      this.#hub = hub;
      this.#uris.push(uri);
    }
  }

  acknowledge(): void {
    const agreed: JsonObject = Object.fromEntries(this.#listChanges.map(({ filter: name }) => [name, true]));
    if (this.#uris.length > 0) agreed.resourceSubscriptions = [...this.#uris];
    void this.#output.send({
      jsonrpc: '2.0',
      method: 'notifications/subscriptions/acknowledged',
      params: { _meta: subscriptionMeta(this.#idText), notifications: agreed },
    });
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const message of held) this.#deliver(message);
  }

  complete(): void {
    this.#output.respond(this.#idText, subscriptionComplete(this.#idText), 200);
  }

  close(): Promise<void> | undefined {
    for (const stop of this.#stops) stop();
    for (const uri of this.#uris) this.#hub?.subscriptions.remove(uri);
    return undefined;
  }

  #concerns({ method, params }: ServerMessage): boolean {
    if (this.#listChanges.some((change) => change.method === method)) return true;
    const uri = params?.uri;
    return (
      method === 'notifications/resources/updated' && typeof uri === 'string' && this.#uris.includes(uri)
    );
  }

  #deliver(message: ServerMessage): void {
    const { _meta } = message.params ?? {};
    const meta = isJsonObject(_meta) ? _meta : {};
    const params = { ...message.params, _meta: { ...meta, ...subscriptionMeta(this.#idText) } };
    void this.#output.send({ ...message, params });
  }
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
