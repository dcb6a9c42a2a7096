// Each call on record: nothing is done for one that could not be, and what came of it is noted once, whether or not
// anybody waited for it.
import { GatewayError, toGatewayError } from '../errors.ts';
import { type ClientRequest, headerValue } from '../protocol/client-message.ts';
import { SESSION_HEADER } from '../protocol/request-headers.ts';
import { traceIdOfRecord } from '../telemetry/exchange-record.ts';
import type { Exchange } from './exchange.ts';
import type { GatewayContext } from './gateway-context.ts';
import { isCall } from './within-limits.ts';

/** @throws GatewayError audit-unavailable; or what `run` throws */
export async function onRecord(
  { auditor }: GatewayContext,
  exchange: Exchange,
  { method, params }: ClientRequest,
  run: () => Promise<void>,
): Promise<void> {
  if (auditor === undefined || !isCall(method)) return run();
  auditor.requireWritable();
  const { record, principal, arrival, headers } = exchange;
  const { address } = arrival;
  const startedAt = performance.now();
  let thrown: unknown;
  try {
    return await run();
  } catch (error) {
    thrown = error;
    throw error;
  } finally {
    const { outcome, reason } = outcomeOf(exchange, thrown);
    auditor.noteCall(record, {
      caller: principal,
      address,
      sessionId: headerValue(headers, SESSION_HEADER),
      traceId: traceIdOfRecord(record),
      arguments: params?.arguments,
      outcome,
      reason,
      totalMs: performance.now() - startedAt,
    });
  }
}

function outcomeOf(
  { record, clientGone }: Exchange,
  thrown: unknown,
): { outcome: string; reason: string | undefined } {
  if (thrown === undefined) return { outcome: record.outcome ?? 'ok', reason: record.reason };
  if (clientGone.aborted && !(thrown instanceof GatewayError))
    return { outcome: 'cancelled', reason: undefined };
  const error = toGatewayError(thrown);
  return { outcome: error.code, reason: error.details.reason };
}
