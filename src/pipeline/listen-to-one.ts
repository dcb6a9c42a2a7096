// `subscriptions/listen` of a modern client on a server's own view. It ends with its completion result when our side ends
// it (basic/patterns/subscriptions): because Portico drains, because the caller's sign-in is over, because a reload gave
// the view other servers, or because the server took it back on its pipe.
import { principalKey } from '../access/principal.ts';
import type { StandingListen } from '../bridge/listening/standing-listen.ts';
import { GatewayError } from '../errors.ts';
import type { ModernRequest } from '../protocol/client-message.ts';
import { type Dispatch, dispatchRequest } from './dispatch-request.ts';
import type { Exchange } from './exchange.ts';
import { repeatedOn } from './forward-exchange.ts';
import type { GatewayContext } from './gateway-context.ts';
import { forwardHome, type RequestHome } from './principal-home.ts';
import { leaveStanding } from './standing-stream.ts';

export interface ListenToOne extends Omit<Dispatch, 'signal'> {
  readonly request: ModernRequest;
  readonly home: RequestHome | undefined;
}

/** Resolves when the stream is over, or stands. */
export async function listenToOne(
  gateway: GatewayContext,
  exchange: Exchange,
  { home, ...call }: ListenToOne,
): Promise<void> {
  const { clientGone, record, reply, signedOut } = exchange;
  if (signedOut.aborted) throw new GatewayError('token-invalid', { reason: 'expired' });
  const { maxPerPrincipal } = gateway.config.streams;
  // Counted where its client is.
  const place = exchange.forwarded
    ? undefined
    : gateway.streams.enter(principalKey(exchange.principal), maxPerPrincipal);
  const open = gateway.listens.open(exchange, call.request.idText, call.output);
  let listen: StandingListen | undefined;
  const onStanding = (begun: StandingListen) => {
    listen = begun;
  };
  try {
    const forward = { home, signal: open, reply: repeatedOn(open, () => reply.openStream()) };
    if (await forwardHome(gateway, exchange, forward)) return;
    await dispatchRequest(gateway, exchange, { ...call, output: open, signal: open, onStanding });
  } catch (thrown) {
    void listen?.close();
    listen = undefined;
    if (clientGone.aborted || !(open.aborted || endedByServer(thrown))) throw thrown;
    open.complete();
    record.outcome = 'ok';
  } finally {
    if (listen === undefined) {
      open.close();
      place?.leave();
    }
  }
  if (listen !== undefined) leaveStanding(exchange, { open, listen, place });
}

function endedByServer(thrown: unknown): boolean {
  return thrown instanceof GatewayError && thrown.details.reason === 'subscription-ended';
}
