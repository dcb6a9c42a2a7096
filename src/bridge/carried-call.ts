// One call on its way through the bridge: what every way of carrying it needs, and the steps that they share.
import { GatewayError } from '../errors.ts';
import { isUsable } from '../federation/server-catalogue.ts';
import type { ClientRequest } from '../protocol/client-message.ts';
import { type Era, META } from '../protocol/era.ts';
import { HEADER_MISMATCH } from '../protocol/error-codes.ts';
import type { JsonRpcOutcome } from '../protocol/json-rpc.ts';
import { isJsonObject, type JsonObject, readJson } from '../protocol/json-text.ts';
import type { StopSignal } from '../runtime/stop.ts';
import type { Server } from '../servers/server.ts';
import type { LinkCallOptions, ServerLink } from '../servers/server-link.ts';
import type { ServerMessage } from '../servers/transport.ts';
import { wasNeverAccepted } from '../servers/was-never-accepted.ts';
import type { ExchangeTrace } from '../telemetry/exchange-trace.ts';
import type { CallOutput } from './call-output.ts';
import type { CallingClient } from './calling-client.ts';
import { sessionLinkKey } from './choose-link.ts';
import { emptyWhereAbsent } from './crossings/absent-list.ts';
import type { Crossing, CrossingContext } from './crossings/crossing.ts';
import { legacyClient } from './crossings/legacy-client.ts';
import { legacyServer } from './crossings/legacy-server.ts';
import { sameEraLegacy, sameEraModern } from './crossings/same-era.ts';
import type { LinkHubs } from './listening/link-hub.ts';
import type { LaneHold, LogLanes } from './listening/log-lane.ts';
import type { StandingListen } from './listening/standing-listen.ts';
import type { ParkedCalls } from './parking/parked-calls.ts';
import { SealedFields } from './seals/sealed-fields.ts';
import type { SealedState } from './seals/sealed-state.ts';
import { statusOfError } from './server-errors.ts';
import type { SessionCall } from './sessions/session-calls.ts';
import { tracedSend } from './traced-send.ts';
import { visibleError, visibleResult } from './visible-result.ts';

/** CROSSINGS[client's era][server's era] */
const CROSSINGS: Readonly<Record<Era, Readonly<Record<Era, Crossing>>>> = {
  legacy: { legacy: sameEraLegacy, modern: legacyClient },
  modern: { legacy: legacyServer, modern: sameEraModern },
};

/** What outlives one call, for all of them. */
export interface BridgeState {
  readonly state: SealedState;
  readonly lanes: LogLanes;
  readonly hubs: LinkHubs;
  readonly parked: ParkedCalls;
}

export type ParamHeaderValues = Readonly<Record<string, string>>;

export interface CallToCarry {
  readonly request: ClientRequest;
  readonly client: CallingClient;
  readonly server: Server;
  readonly link: ServerLink;
  readonly output: CallOutput;
  readonly signal: StopSignal;
  readonly listTtlMs: number;
  /** What the server lists of the tool that is called, where it is one that may be run as a task for this caller. */
  readonly tool: JsonObject | undefined;
  readonly paramHeaders: ParamHeaderValues | undefined;
  /** The trace that the exchange is a part of. */
  readonly trace: ExchangeTrace | undefined;
  /** Milliseconds that the request waited for a place among the calls in flight. */
  onQueued?(waitedMs: number): void;
  /**
   * Of a list of tools: each as clients get to see it, or undefined where there is none for them. Without it they see
   * all of it, as it is.
   */
  presentTool?(tool: JsonObject): JsonObject | undefined;
  /** Reads the tool's schema again and makes the headers anew: a server refused those that we had. */
  refreshParamHeaders?(): Promise<ParamHeaderValues | undefined>;
  /** The call as its legacy session knows it. */
  readonly sessionCall: SessionCall | undefined;
  /** Takes a listen over once it stands, where nothing of the call is needed any more; the call has then been carried. */
  onStanding?(standing: StandingListen): void;
}

export class CarriedCall {
  readonly call: CallToCarry;
  readonly bridge: BridgeState;
  readonly crossing: Crossing;
  readonly context: CrossingContext;
  readonly sealing: SealedFields;
  /** The server has begun with the call: it cannot be made anew as a whole, whatever becomes of a later round (F03). */
  #hasBegun = false;

  /** @throws GatewayError state-invalid for a state, cursor or task that this caller was not given */
  constructor(call: CallToCarry, bridge: BridgeState) {
    const { request, client, server, link } = call;
    this.call = call;
    this.bridge = bridge;
    this.crossing = CROSSINGS[client.era][link.peer.era];
    this.sealing = new SealedFields({
      state: bridge.state,
      principal: client.principal,
      server: server.slug,
      method: request.method,
      params: request.params,
      generation: link.peer.era === 'legacy' ? bridge.hubs.of(link).generation : '',
      replica: bridge.parked.replica,
      ofProcess: link.peer.era === 'modern' && link.transport.kind === 'stdio',
    });
    const params = this.sealing.openParams();
    this.context = {
      request: params === request.params ? request : ({ ...request, params } as ClientRequest),
      clientVersion: client.version,
      clientCapabilities: client.capabilities,
      clientInfo: client.info,
      logLevel: client.logLevel,
      peer: link.peer,
      server: server.config,
      listTtlMs: call.listTtlMs,
    };
  }

  /** The params as they go upstream. */
  params(): JsonObject | undefined {
    return this.crossing.params(this.context);
  }

  /** Sends the request; once more where the server refuses the parameter headers of a schema that has changed. */
  send(params: JsonObject | undefined, options: Partial<LinkCallOptions> = {}): Promise<JsonRpcOutcome> {
    const { refreshParamHeaders, request, link } = this.call;
    const sendOnce = (headers: ParamHeaderValues | undefined) =>
      tracedSend(this.call, params, (said) => this.#sendOnce(said, options, headers));
    const sent = sendOnce(this.call.paramHeaders).then((answered) => {
      this.#hasBegun = true;
      const outcome = emptyWhereAbsent(answered, request.method, link.peer);
      const refused = 'error' in outcome && outcome.error.code === HEADER_MISMATCH;
      if (!refused || refreshParamHeaders === undefined) return outcome;
      return refreshParamHeaders().then(sendOnce);
    });
    return this.#hasBegun ? sent.catch(roundLost) : sent;
  }

  /** Hands a message of the server to the client, if it is one that crosses. */
  relay(message: ServerMessage): void {
    const crossed = this.crossing.message(message, this.context);
    if (crossed === undefined) return;
    const { params } = crossed;
    const sealed = params === undefined ? undefined : this.#owned(this.sealing.sealMessage(params));
    const slow = this.call.output.send(sealed === undefined ? crossed : { ...crossed, params: sealed });
    if (slow !== undefined) this.#holdBack(slow);
  }

  /**
   * The client reads too slowly. On its session's own link its server waits for it; on any other
   * somebody else would have to, and the reply's own bound ends what is read too slowly.
   */
  #holdBack(slow: Promise<void>): void {
    const { client, link, server } = this.call;
    const { session } = client;
    if (session === undefined || link !== server.peekOwnLink(sessionLinkKey(session))) return;
    const resume = link.transport.pauseReading?.();
    if (resume !== undefined) slow.then(resume, resume);
  }

  /** Hands the server's answer to the client. */
  respond(outcome: JsonRpcOutcome): 'ok' | 'error' {
    const answer = this.#publicOutcome(outcome);
    const status = 'error' in answer ? statusOfError(this.call.client.era, answer.error.code) : 200;
    this.call.output.respond(this.call.request.idText, answer, status);
    return 'error' in answer ? 'error' : 'ok';
  }

  #sendOnce(
    params: JsonObject | undefined,
    options: Partial<LinkCallOptions>,
    paramHeaders: ParamHeaderValues | undefined,
  ): Promise<JsonRpcOutcome> {
    const { request, link, signal, client, onQueued } = this.call;
    const onMessage = options.onMessage ?? ((message: ServerMessage) => this.relay(message));
    const lane = this.#takeLogLane(params, onMessage);
    const readyAt = performance.now();
    const sent = link.call(request.method, lane === 'withheld' ? withoutLogLevel(params) : params, {
      ...{ signal, caller: client.caller, paramHeaders },
      ...options,
      onMessage,
      onAdmitted: () => onQueued?.(performance.now() - readyAt),
    });
    return link.transport.kind === 'stdio' ? this.#onPipe(sent, lane) : sent;
  }

  /** A pipe tells nobody's log lines apart: whoever wanted them, or has given up, is to be known. */
  async #onPipe(
    sent: Promise<JsonRpcOutcome>,
    lane: LaneHold | 'withheld' | undefined,
  ): Promise<JsonRpcOutcome> {
    try {
      return await sent;
    } catch (thrown) {
      this.bridge.lanes.noteGivenUp(this.call.link, this.call.client.principal);
      throw thrown;
    } finally {
      if (typeof lane === 'object') lane.release();
    }
  }

  /** A request that wants log lines from a child whose pipe tells nobody's apart; others need no lane. */
  #takeLogLane(
    params: JsonObject | undefined,
    deliver: (message: ServerMessage) => void,
  ): LaneHold | 'withheld' | undefined {
    const { link, client } = this.call;
    const wantsLog = isJsonObject(params?._meta) && params._meta[META.logLevel] !== undefined;
    if (!wantsLog || link.transport.kind !== 'stdio') return undefined;
    return this.bridge.lanes.take(link, { principal: client.principal, deliver }) ?? 'withheld';
  }

  #publicOutcome(outcome: JsonRpcOutcome): JsonRpcOutcome {
    const { request, client } = this.call;
    const crossed = this.crossing.outcome(this.#visibleOutcome(outcome), this.context);
    if ('error' in crossed) return { error: visibleError(crossed.error, request, client.access) };
    return { result: this.#owned(this.sealing.sealResult(crossed.result)) };
  }

  /** What is for this caller, found by the server's own names and words, before any of them becomes another. */
  #visibleOutcome(outcome: JsonRpcOutcome): JsonRpcOutcome {
    if ('error' in outcome) return outcome;
    const { request, client, link } = this.call;
    const result = request.method === 'tools/list' ? usableTools(outcome.result, link) : outcome.result;
    const visible = visibleResult(result, request, client.access);
    return { result: this.#presented(visible) };
  }

  #presented(result: JsonObject): JsonObject {
    const { presentTool } = this.call;
    if (presentTool === undefined) return result;
    const listed = Array.isArray(result.tools) ? result.tools.filter(isJsonObject) : [];
    return { ...result, tools: listed.map(presentTool).filter((tool) => tool !== undefined) };
  }

  /** A subscription is known to its client by the id of the client's own request, digit by digit. */
  #owned(holder: JsonObject): JsonObject {
    const meta = holder._meta;
    if (!isJsonObject(meta) || !(META.subscriptionId in meta)) return holder;
    const id = readJson(this.call.request.idText) as string | number;
    return { ...holder, _meta: { ...meta, [META.subscriptionId]: id } };
  }
}

/** @throws what was thrown, and never as of a request that could be made again */
function roundLost(thrown: unknown): never {
  if (!wasNeverAccepted(thrown)) throw thrown;
  throw new GatewayError('server-unavailable', {
    reason: 'round-lost',
    text: 'The server went away in the middle of the call',
    cause: thrown,
  });
}

function withoutLogLevel(params: JsonObject | undefined): JsonObject | undefined {
  if (params === undefined || !isJsonObject(params._meta)) return params;
  const { [META.logLevel]: _withheld, ..._meta } = params._meta;
  return { ...params, _meta };
}

/** Portico is the client here: tools that it could not call by the rules are left out (F35). */
function usableTools(result: JsonObject, link: ServerLink): JsonObject {
  if (!Array.isArray(result.tools)) return result;
  return { ...result, tools: result.tools.filter((tool) => !isJsonObject(tool) || isUsable(link, tool)) };
}
