// The straight line. Every client request comes through here, and nothing goes round it:
//   http edge > read message > route > authorize > limit > parameters > bridge > link > reply > record
// The edge has checked Origin, Host and caller before; dispatch-request.ts is the line from route to bridge.
import { ClientCancelled } from '../bridge/sessions/session-calls.ts';
import { GatewayError, toGatewayError } from '../errors.ts';
import { type ClientRequest, type Refusal, readClientMessage } from '../protocol/client-message.ts';
import type { Era } from '../protocol/era.ts';
import type { Exchange } from './exchange.ts';
import type { GatewayContext } from './gateway-context.ts';
import { handleLegacyMessage, type LegacyMessage } from './legacy-exchange.ts';
import { handleModernRequest } from './modern-exchange.ts';
import { noteFailure } from './note-failure.ts';
import { onRecord } from './on-record.ts';
import { handleSessionStream } from './session-stream.ts';
import { beginTrace } from './traced-exchange.ts';

/** Resolves when the answer has been decided, or the exchange stands; it never rejects. */
export async function handleExchange(gateway: GatewayContext, exchange: Exchange): Promise<void> {
  let era: Era = 'legacy';
  let idText: string | undefined;
  try {
    if (exchange.httpMethod !== 'POST') return await handleSessionStream(gateway, exchange);
    const message = readClientMessage(exchange.body, exchange.headers);
    era = message.era;
    exchange.record.era = era;
    if ('idText' in message) idText = message.idText;
    if (message.kind === 'refused') throw refusal(message);
    if (message.kind === 'request') return await handleRequest(gateway, exchange, message);
    if (message.era === 'legacy')
      return await handleLegacyMessage(gateway, exchange, message as LegacyMessage);
    exchange.record.outcome = 'ok';
    exchange.reply.accept();
  } catch (thrown) {
    settle(gateway, exchange, { thrown, era, idText });
  }
}

function handleRequest(gateway: GatewayContext, exchange: Exchange, request: ClientRequest): Promise<void> {
  beginTrace(gateway, exchange, request);
  const handle = () =>
    request.era === 'legacy'
      ? handleLegacyMessage(gateway, exchange, request)
      : handleModernRequest(gateway, exchange, request);
  // The replica that its client reached has it on record.
  return exchange.forwarded === undefined ? onRecord(gateway, exchange, request, handle) : handle();
}

function refusal({ failure, text, data }: Refusal): GatewayError {
  return new GatewayError(failure, data === undefined ? { text } : { text, data });
}

function settle(
  { logger }: GatewayContext,
  exchange: Exchange,
  { thrown, era, idText }: { thrown: unknown; era: Era; idText: string | undefined },
): void {
  const { record, reply, clientGone } = exchange;
  const cancelled = thrown instanceof ClientCancelled || (clientGone.aborted && thrown === clientGone.reason);
  if (cancelled) {
    record.outcome = 'cancelled';
    reply.end();
    return;
  }
  const error = toGatewayError(thrown);
  record.outcome = error.code;
  record.reason = error.details.reason;
  // Nobody is there to be told, so a failure of ours would be lost.
  if (clientGone.aborted) noteFailure(logger, record, thrown);
  reply.fail(error, idText, era);
}
