// A modern client's call to a legacy server: it may ask something, and then the exchange ends with `input_required`
// while the call stays open upstream. The retry finds it again by its sealed state.
import { createHash } from 'node:crypto';
import { GatewayError } from '../../errors.ts';
import { LEGACY_URL_ELICITATION_REQUIRED } from '../../protocol/error-codes.ts';
import type { JsonRpcErrorObject, JsonRpcOutcome } from '../../protocol/json-rpc.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../protocol/json-text.ts';
import type { StopSignal } from '../../runtime/stop.ts';
import { answerFixedRoots } from '../../servers/fixed-roots.ts';
import type { ServerMessage } from '../../servers/transport.ts';
import type { CarriedCall } from '../carried-call.ts';
import { crossedCapabilities, missingCapability } from '../client-features.ts';
import { modernQuestion } from '../crossings/input-required.ts';
import { callAsTask, needsTask, type TaskCallOptions } from '../crossings/task-call.ts';
import { MAX_QUESTIONS, tooManyQuestions } from '../question-limits.ts';
import type { AttachedExchange, ParkedCall } from './parked-call.ts';
import { readTicket, writeTicket } from './parked-ticket.ts';

/** Inside the seal, in place of a ticket: the sign that the call is to be made afresh. */
const AFRESH = 'afresh';

export async function carryParkable(carried: CarriedCall): Promise<'ok' | 'error'> {
  const { bridge, context } = carried;
  const { requestState, inputResponses } = context.request.params ?? {};
  const ticket = typeof requestState === 'string' ? readTicket(requestState) : undefined;
  const exchange = new ParkableExchange(carried);
  if (ticket !== undefined) {
    const parked = bridge.parked.claim(ticket, fingerprintOf(carried));
    exchange.parked = parked;
    const endTurn = await takeTurn(carried, parked);
    try {
      // Somebody else may have come with the same state while this one waited for its turn.
      bridge.parked.claim(ticket, fingerprintOf(carried));
      const answers = isJsonObject(inputResponses) ? inputResponses : {};
      await asAsker(carried, parked, () => parked.resume(exchange, answers));
    } finally {
      endTurn();
    }
    return exchange.told;
  }
  // `inputResponses` without a state of ours is a fresh call, and so is a retry after URLs that had to be visited.
  if (requestState !== undefined && requestState !== AFRESH) throw new GatewayError('state-invalid');
  const parked = bridge.parked.open({
    fingerprint: fingerprintOf(carried),
    principal: carried.call.client.principal,
    declared: declaredOf(carried),
    link: carried.call.link,
  });
  exchange.parked = parked;
  const endTurn = await takeTurn(carried, parked).catch((thrown: unknown) => {
    parked.cancel(thrown);
    throw thrown;
  });
  try {
    await asAsker(carried, parked, () => {
      void run(carried, parked);
      return parked.attach(exchange);
    });
  } finally {
    endTurn();
  }
  return exchange.told;
}

/**
 * While an exchange is attached, questions and log lines may belong to its call. Where they name no call, one at a
 * time is in that position; one that is parked is not, or whoever abandons a question would block everyone behind it.
 *
 * @returns the way to give the turn back
 */
async function takeTurn({ call, bridge, context }: CarriedCall, parked: ParkedCall): Promise<() => void> {
  const { server, signal } = call;
  const hub = bridge.hubs.of(parked.link);
  // Without features nothing can be asked, and what a task asks names it.
  const isAsked = Object.keys(parked.declared).length > 0 && !needsTask(call.tool, parked.link.peer);
  const takesTurns = hub.takesTurns && isAsked;
  const endTurn = takesTurns ? await hub.turns.take(signal, server.config.queue.timeoutMs) : () => {};
  if (takesTurns) await hub.passed();
  const logging = await hub.logLevels.enter(context.request, (message) => parked.deliver(message));
  return () => {
    logging.leave();
    endTurn();
  };
}

/** Questions that name no call may be the call's for as long as `exchange` runs. */
async function asAsker(
  { bridge, call }: CarriedCall,
  parked: ParkedCall,
  exchange: () => Promise<void>,
): Promise<void> {
  if (needsTask(call.tool, parked.link.peer)) return exchange();
  const place = bridge.hubs.of(parked.link).enter(parked);
  try {
    await exchange();
  } finally {
    place.leave();
  }
}

/** Sends the call; it lives until the server has answered, whichever exchanges come and go. */
async function run(carried: CarriedCall, parked: ParkedCall): Promise<void> {
  const hub = carried.bridge.hubs.of(parked.link);
  const place = hub.hold(parked);
  // Without features nothing can be asked.
  const raiseFence = () => {
    if (Object.keys(parked.declared).length > 0) hub.raiseFence();
  };
  parked.upstream.signal.addEventListener('abort', raiseFence, { once: true });
  try {
    const params = withProgressToken(carried.params(), parked.id);
    const options: TaskCallOptions = {
      signal: parked.upstream.signal,
      onStarted: (clock) => {
        parked.clock = clock;
      },
      onMessage: (message) => receive(parked, message, carried),
      onTask: (taskId) => hub.nameTask(parked, taskId),
    };
    const asTask = needsTask(carried.call.tool, parked.link.peer);
    parked.finish(await (asTask ? callAsTask(carried, params, options) : carried.send(params, options)));
  } catch (thrown) {
    if (!parked.upstream.signal.aborted) raiseFence();
    parked.fail(thrown);
  } finally {
    place.leave();
  }
}

function declaredOf({ call: { client, server } }: CarriedCall): JsonObject {
  return crossedCapabilities(client.capabilities, server.config.client);
}

/** What the wire ties to this call. */
function receive(parked: ParkedCall, message: ServerMessage, { call: { link, server } }: CarriedCall): void {
  if (answerFixedRoots(message, link, server.config)) return;
  if ('id' in message) parked.ask(message);
  else parked.deliver(message);
}

/** One exchange of a call that may be parked: what reaches its client, in its own terms. */
class ParkableExchange implements AttachedExchange {
  readonly signal: StopSignal;
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
    const urls = 'error' in outcome ? requiredUrls(outcome.error) : [];
    if (urls.length > 0) {
      this.#requireUrls(urls);
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
    const { replica } = this.#carried.bridge.parked;
    this.#respondInputRequired(inputRequests, writeTicket({ replica, id: this.parked?.id ?? '', round }));
  }

  /** -32042 of 2025-11-25: the URLs become questions, the retry sends the original call afresh. */
  #requireUrls(urls: readonly JsonObject[]): void {
    if (urls.length > MAX_QUESTIONS) throw tooManyQuestions();
    const declared = declaredOf(this.#carried);
    const inputRequests: JsonObject = {};
    for (const [index, params] of urls.entries()) {
      const question = { method: 'elicitation/create', params };
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

/** The params of the elicitations that a legacy server demands by its error. */
function requiredUrls({ code, data, message }: JsonRpcErrorObject): JsonObject[] {
  if (code !== LEGACY_URL_ELICITATION_REQUIRED || !isJsonObject(data)) return [];
  const elicitations = Array.isArray(data.elicitations) ? data.elicitations : [];
  return elicitations.filter(isJsonObject).map((params) => ({ mode: 'url', message, ...params }));
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
