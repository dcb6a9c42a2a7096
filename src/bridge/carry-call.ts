// Carries one request to a server and everything that comes of it back. Which way depends on who may ask whom:
// same era, and plain requests across: straight through. A legacy client of a modern server is asked on its own
// stream (input-rounds). A modern client's call to a legacy server may be parked (parkable-call).
import { METHOD_NOT_FOUND } from '../protocol/error-codes.ts';
import { isParkable } from '../protocol/methods.ts';
import { fixedRoots } from '../servers/fixed-roots.ts';
import type { LinkCallOptions } from '../servers/server-link.ts';
import type { ServerMessage } from '../servers/transport.ts';
import { type BridgeState, type CallToCarry, CarriedCall } from './carried-call.ts';
import { sessionLinkKey } from './choose-link.ts';
import { carryFixedRoots } from './crossings/carry-fixed-roots.ts';
import { carryWithRounds } from './crossings/input-rounds.ts';
import { carryLegacyListen } from './listening/legacy-listen.ts';
import { carryModernListen } from './listening/modern-listen.ts';
import { carryParkable } from './parking/parkable-call.ts';
import { carrySubscription } from './sessions/carry-subscription.ts';
import { relayToSession } from './sessions/session-messages.ts';

/**
 * Resolves when the answer has been handed to the output.
 *
 * @returns whether it was a result or an error of the server's own
 * @throws GatewayError where there is no answer of the server to hand on
 */
export function carryCall(call: CallToCarry, bridge: BridgeState): Promise<'ok' | 'error'> {
  const carried = new CarriedCall(call, bridge);
  const { request, client, link, server } = call;
  const crossing = `${client.era} to ${link.peer.era}` as const;
  switch (crossing) {
    case 'legacy to legacy':
      noteTask(carried);
      return carryPlain(carried, {
        onMessage: (message) => relayLegacy(carried, message),
        onStarted: (clock) => {
          if (call.sessionCall !== undefined) call.sessionCall.clock = clock;
        },
      });
    case 'modern to modern': {
      if (isListen(request.method)) return carryModernListen(carried);
      const roots = isParkable(request.method) ? fixedRoots(server.config) : undefined;
      if (roots !== undefined) return carryFixedRoots(carried, roots);
      return carryPlain(carried);
    }
    case 'legacy to modern':
      if (isSubscription(request.method)) return carrySubscription(carried);
      return carryWithRounds(carried);
    case 'modern to legacy':
      if (isListen(request.method)) return carryLegacyListen(carried);
      return isParkable(request.method) ? carryParkable(carried) : carryPlain(carried);
  }
}

/** By a reaction rather than an async function: most calls come by here, and none of them waits for anything else. */
function carryPlain(carried: CarriedCall, options?: Partial<LinkCallOptions>): Promise<'ok' | 'error'> {
  return carried.send(carried.params(), options).then((outcome) => carried.respond(outcome));
}

/** A question of the task is asked where its result is waited for. */
function noteTask({ call: { client, request, sessionCall }, context }: CarriedCall): void {
  const taskId = context.request.params?.taskId;
  if (request.method !== 'tasks/result' || typeof taskId !== 'string' || sessionCall === undefined) return;
  client.session?.awaitTask(sessionCall, taskId);
}

/**
 * On HTTP a legacy server's questions come on the call's own stream, and go out on the client's. On a link that is not
 * the session's own nothing was declared that a server could ask for.
 */
function relayLegacy(carried: CarriedCall, message: ServerMessage): void {
  const { client, link, server, sessionCall } = carried.call;
  if (!('id' in message) && message.method !== 'notifications/cancelled') {
    carried.relay(message);
  } else if (client.session !== undefined && link === server.peekOwnLink(sessionLinkKey(client.session))) {
    relayToSession(client.session, message, {
      link,
      server: server.config,
      stream: sessionCall?.stream,
    });
  } else if ('id' in message) {
    const error = { code: METHOD_NOT_FOUND, message: 'No client feature is available for this call' };
    void link.respond(message.id, { error });
  }
}

function isListen(method: string): boolean {
  return method === 'subscriptions/listen';
}

function isSubscription(method: string): boolean {
  return method === 'resources/subscribe' || method === 'resources/unsubscribe';
}
