// Arrays of JSON-RPC messages, which one revision had: split, bounded, and each member answered on the one stream.
import type { CallOutput } from '../bridge/call-output.ts';
import { heardSink } from '../bridge/listening/heard-messages.ts';
import type { LegacySession } from '../bridge/sessions/legacy-session.ts';
import { relayClientNotification } from '../bridge/sessions/session-messages.ts';
import type { EventStream } from '../bridge/sessions/session-streams.ts';
import { errorObject, GatewayError } from '../errors.ts';
import {
  type ClientBatch,
  type ClientNotification,
  type ClientResponse,
  classify,
  type LegacyRequest,
} from '../protocol/client-message.ts';
import { readJson } from '../protocol/json-text.ts';
import { mayNotify, rereaders } from './authorize.ts';
import { noteRequest } from './dispatch-request.ts';
import type { Exchange } from './exchange.ts';
import type { GatewayContext } from './gateway-context.ts';
import { liveAccess } from './live-access.ts';
import { noteFailure } from './note-failure.ts';
import { onRecord } from './on-record.ts';
import type { ClientAt } from './route-on-view.ts';
import { type RoutedRequest, routeRequest } from './route-request.ts';
import { answerHere, clientsOf, permit, runCall, serverOf } from './session-call.ts';
import { beginTrace } from './traced-exchange.ts';
import type { View } from './view.ts';
import { withinLimits } from './within-limits.ts';

/** The one revision whose clients may send arrays, and how many members one may have. */
const BATCH_VERSION = '2025-03-26';
const MAX_BATCH = 100;

interface SessionBatch {
  readonly batch: ClientBatch;
  readonly view: View;
  readonly session: LegacySession | undefined;
}

export async function handleBatch(
  gateway: GatewayContext,
  exchange: Exchange,
  { batch, view, session }: SessionBatch,
): Promise<void> {
  const { reply } = exchange;
  if (session?.record.version !== BATCH_VERSION) {
    throw new GatewayError('not-a-message', {
      text: 'The body must be a single JSON-RPC message, not an array',
    });
  }
  if (batch.items.length === 0 || batch.items.length > MAX_BATCH) {
    throw new GatewayError('not-a-message', { text: `An array must have 1 to ${MAX_BATCH} messages` });
  }
  // All or nothing: no member takes effect before the whole array is known to be in order.
  const members = batch.items.map((item) => readMember(item, exchange));
  const requests = members.filter((member) => member.kind === 'request');
  for (const member of members) {
    if (member.kind === 'response') session.answer(member.id, member.outcome);
    else if (member.kind === 'notification' && mayNotify(view.access, member.method)) {
      const servers = view.members.map(({ server }) => server);
      relayClientNotification(session, member, servers);
    }
  }
  exchange.record.outcome = 'ok';
  if (requests.length === 0) return reply.accept();
  if (!reply.accepts.events)
    throw new GatewayError('not-acceptable', { text: 'Arrays are answered as an event stream' });
  const clientAt = clientsOf(session.record, session, exchange);
  const asked = await Promise.all(
    requests.map(async (request): Promise<AskedMember> => {
      const routing = routeRequest(gateway, exchange, { asked: request, view, clientAt });
      const routed = await routing.catch((thrown: unknown) => ({ thrown }));
      return { request, routed };
    }),
  );
  const stream = session.streams.open();
  stream.mayBeReread = rereaders(
    view.access,
    asked.flatMap(({ routed }) => ('thrown' in routed ? [] : [routed])),
  );
  stream.attach(heardSink(reply, liveAccess(gateway, exchange)), exchange.clientGone);
  reply.openStream();
  await Promise.all(
    asked.map((member) => answerMember(gateway, exchange, { member, view, clientAt, session, stream })),
  );
  stream.end();
}

interface AskedMember {
  readonly request: LegacyRequest;
  readonly routed: RoutedRequest<LegacyRequest> | { readonly thrown: unknown };
}

async function answerMember(
  gateway: GatewayContext,
  exchange: Exchange,
  {
    member: { request, routed },
    ...rest
  }: { member: AskedMember; view: View; clientAt: ClientAt; session: LegacySession; stream: EventStream },
): Promise<void> {
  const { stream } = rest;
  const output: CallOutput = {
    send: (message) => stream.send(message),
    respond: (idText, outcome) => {
      void stream.send({ jsonrpc: '2.0', id: readJson(idText) as string | number, ...outcome });
    },
    end: () => {},
  };
  noteRequest(exchange, request, rest.view.sole?.server);
  const own = withOwnRecord(exchange);
  // Whoever hands an array over has not read its members.
  beginTrace(gateway, { record: own.record, forwarded: undefined }, request);
  try {
    await onRecord(gateway, own, request, async () => {
      if ('thrown' in routed) throw routed.thrown;
      const permitted = permit(own, { ...rest, routed });
      const charged = { ...permitted, server: serverOf(permitted) };
      await withinLimits(gateway, own, charged, async () => {
        const answer = answerHere(permitted);
        if (answer !== undefined) output.respond(request.idText, answer, 200);
        else await runCall(gateway, own, { ...permitted, ...rest, output });
      });
    });
  } catch (thrown) {
    // One member's failure is its own answer; the others go on.
    const error = noteFailure(gateway.logger, exchange.record, thrown);
    own.record.outcome = error.code;
    output.respond(request.idText, { error: errorObject(error, 'legacy') }, 200);
  } finally {
    own.record.trace?.end(own.record);
  }
}

/** Members run side by side, and what is noted of one must not be taken for another's. */
function withOwnRecord(exchange: Exchange): Exchange {
  return Object.create(exchange, { record: { value: { ...exchange.record } } });
}

type Member = LegacyRequest | ClientResponse | ClientNotification;

function readMember(item: unknown, { headers }: Exchange): Member {
  const message = classify(item, headers);
  if (message.kind === 'refused') {
    const { failure, text, data } = message;
    throw new GatewayError(failure, data === undefined ? { text } : { text, data });
  }
  if (message.era === 'legacy' && message.kind !== 'batch') {
    if (message.kind !== 'request' || message.method !== 'initialize') return message;
  }
  throw new GatewayError('not-a-message', { text: 'An array may not hold initialize, or another array' });
}
