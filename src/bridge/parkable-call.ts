// A modern client's call to a legacy server: it may ask something, and then the exchange ends with `input_required`
// while the call stays open upstream. The retry finds it again by its sealed state (BRIDGE.md, B).
import { createHash } from 'node:crypto';
import { GatewayError } from '../errors.ts';
import { LEGACY_URL_ELICITATION_REQUIRED } from '../protocol/error-codes.ts';
import type { JsonRpcErrorObject, JsonRpcOutcome } from '../protocol/json-rpc.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../protocol/json-text.ts';
import type { ServerMessage } from '../servers/transport.ts';
import type { CarriedCall } from './carried-call.ts';
import { declaredCapabilities, missingCapability, normalCapabilities } from './client-features.ts';
import { answerFixedRoots } from './fixed-roots.ts';
import { modernQuestion } from './input-required.ts';
import type { AttachedExchange, ParkedCall } from './parked-call.ts';

/** Inside the seal: a parked call and its round, or the sign that the call is to be made afresh. */
const PARKED_STATE = /^parked ([\w-]+) (\d+)$/;
const AFRESH = 'afresh';

export async function carryParkable(carried: CarriedCall): Promise<'ok' | 'error'> {
  const { bridge, context } = carried;
  const { requestState, inputResponses } = context.request.params ?? {};
  const [, id, round] = typeof requestState === 'string' ? (PARKED_STATE.exec(requestState) ?? []) : [];
  const exchange = new ParkableExchange(carried);
  if (id !== undefined) {
    const parked = bridge.parked.claim(id, Number(round), fingerprintOf(carried));
    exchange.parked = parked;
    const leave = await enterTurn(carried, parked);
    try {
      // Somebody else may have come with the same state while this one waited for its turn.
      bridge.parked.claim(id, Number(round), fingerprintOf(carried));
      await parked.resume(exchange, isJsonObject(inputResponses) ? inputResponses : {});
    } finally {
      leave();
    }
    return exchange.told;
  }
  // `inputResponses` without a state of ours is a fresh call, and so is a retry after URLs that had to be visited.
  if (requestState !== undefined && requestState !== AFRESH) throw new GatewayError('state-invalid');
  const parked = bridge.parked.open({
    fingerprint: fingerprintOf(carried),
    principal: carried.call.client.principal,
    declared: declaredOf(carried),
    answer: (questionId, outcome) => void carried.call.link.respond(questionId, outcome),
  });
  exchange.parked = parked;
  const leave = await enterTurn(carried, parked).catch((thrown: unknown) => {
    parked.cancel(thrown);
    throw thrown;
  });
  try {
    void run(carried, parked);
    await parked.attach(exchange);
  } finally {
    leave();
  }
  return exchange.told;
}

/**
 * While an exchange is attached, questions may belong to its call. On a pipe one call at a time is in that position;
 * one that is parked is not, or whoever abandons a question would block everyone behind it.
 */
async function enterTurn({ call, bridge }: CarriedCall, parked: ParkedCall): Promise<() => void> {
  const { link, server, signal } = call;
  const hub = bridge.hubs.of(link);
  // Without features nothing can be asked; over HTTP each question comes on its own call's stream.
  const takesTurns = link.transport.kind === 'stdio' && Object.keys(parked.declared).length > 0;
  const endTurn = takesTurns ? await hub.turns.take(signal, server.config.queue.timeoutMs) : () => {};
  const leave = hub.enter(parked);
  return () => {
    leave();
    endTurn();
  };
}

/** Sends the call; it lives until the server has answered, whichever exchanges come and go. */
async function run(carried: CarriedCall, parked: ParkedCall): Promise<void> {
  const { call, bridge, context } = carried;
  const hub = bridge.hubs.of(call.link);
  const leave = hub.hold(parked);
  const logging = await hub.logLevels.enter(context.request, {
    isRunning: () => parked.state !== 'parked' && parked.state !== 'withdrawn',
    deliver: (message) => parked.deliver(message),
  });
  try {
    const outcome = await carried.send(withProgressToken(carried.params(), parked.id), {
      signal: parked.upstream.signal,
      onStarted: (clock) => {
        parked.clock = clock;
      },
      onMessage: (message) => receive(parked, message, carried),
    });
    parked.finish(outcome);
  } catch (thrown) {
    parked.fail(thrown);
  } finally {
    logging.leave();
    leave();
  }
}

function declaredOf({ call: { client, server } }: CarriedCall): JsonObject {
  return normalCapabilities(
    declaredCapabilities(client.capabilities, server.config.client, { fixedRoots: true }),
  );
}

/** What the wire ties to this call. */
function receive(parked: ParkedCall, message: ServerMessage, { call: { link, server } }: CarriedCall): void {
  if (answerFixedRoots(message, link, server.config)) return;
  if ('id' in message) parked.ask(message);
  else parked.deliver(message);
}

/** One exchange of a call that may be parked: what reaches its client, in its own terms. */
class ParkableExchange implements AttachedExchange {
  readonly signal: AbortSignal;
  told: 'ok' | 'error' = 'ok';
  parked: ParkedCall | undefined;
  readonly #carried: CarriedCall;

  constructor(carried: CarriedCall) {
    this.#carried = carried;
    this.signal = carried.call.signal;
  }

  /** Progress goes out under the token of the exchange that listens now, or not at all. */
  send(message: ServerMessage): void {
    if (message.method !== 'notifications/progress') {
      this.#carried.relay(message);
      return;
    }
    const meta = this.#carried.call.request.params?._meta;
    const progressToken = isJsonObject(meta) ? meta.progressToken : undefined;
    if (progressToken !== undefined)
      this.#carried.relay({ ...message, params: { ...message.params, progressToken } });
  }

  respond(outcome: JsonRpcOutcome): void {
    if ('error' in outcome && outcome.error.code === LEGACY_URL_ELICITATION_REQUIRED) {
      this.#requireUrls(outcome.error);
      return;
    }
    // The server could not go on without a feature that the client has not declared (basic/index, "_meta").
    const missing = this.parked?.missing;
    if (missing !== undefined && ('error' in outcome || outcome.result.isError === true)) {
      throw new GatewayError('capability-missing', { data: { requiredCapabilities: missing } });
    }
    this.told = this.#carried.respond(outcome);
  }

  requireInput(inputRequests: JsonObject, round: number): void {
    this.#respondInputRequired(inputRequests, `parked ${this.parked?.id} ${round}`);
  }

  /** -32042 of 2025-11-25: the URLs become questions, the retry sends the original call afresh. */
  #requireUrls({ data, message }: JsonRpcErrorObject): void {
    const elicitations = isJsonObject(data) && Array.isArray(data.elicitations) ? data.elicitations : [];
    const declared = declaredOf(this.#carried);
    const inputRequests: JsonObject = {};
    for (const [index, params] of elicitations.entries()) {
      if (!isJsonObject(params)) continue;
      const question = { method: 'elicitation/create', params: { mode: 'url', message, ...params } };
      const missing = missingCapability(question, declared);
      if (missing !== undefined) {
        throw new GatewayError('capability-missing', { data: { requiredCapabilities: missing.required } });
      }
      inputRequests[`url${index + 1}`] = modernQuestion(question);
    }
    this.#respondInputRequired(inputRequests, AFRESH);
  }

  #respondInputRequired(inputRequests: JsonObject, requestState: string): void {
    const { output, request } = this.#carried.call;
    const result = { resultType: 'input_required', inputRequests, requestState };
    output.respond(request.idText, { result: this.#carried.sealing.sealResult(result) }, 200);
  }
}

/** Whoever listens at the time gets the progress, so the server is always told that somebody does. */
function withProgressToken(params: JsonObject | undefined, progressToken: string): JsonObject {
  const meta = isJsonObject(params?._meta) ? params._meta : {};
  return { ...params, _meta: { ...meta, progressToken } };
}

/** What a retry must repeat to be one: everything but the members that belong to a single exchange. */
function fingerprintOf({ call: { client, server, request } }: CarriedCall): string {
  const { _meta, requestState: _state, inputResponses: _responses, ...params } = request.params ?? {};
  const text = JSON.stringify([client.principal, server.slug, request.method, inOrder(params)]);
  return createHash('sha256').update(text).digest('base64url');
}

function inOrder(value: JsonValue | undefined): JsonValue | undefined {
  if (Array.isArray(value)) return value.map((item) => inOrder(item) ?? null);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, inOrder(value[key])]),
  );
}
