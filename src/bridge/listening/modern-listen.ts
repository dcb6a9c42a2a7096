// `subscriptions/listen` of a modern client on a modern server: the server tells its own stream, and what it has said to
// another replica alone is added, as a child process there may be another than the one here.

import { isJsonObject, type JsonObject } from '../../protocol/json-text.ts';
import { LIST_CHANGES } from '../../protocol/list-changes.ts';
import { subscriptionMeta } from '../../protocol/subscription.ts';
import type { CarriedCall } from '../carried-call.ts';

export async function carryModernListen(carried: CarriedCall): Promise<'ok' | 'error'> {
  const { request, client, server, output } = carried.call;
  const _meta = subscriptionMeta(request.idText);
  // Nothing is told before the server has agreed to it.
  let agreed: JsonObject = {};
  const stop = server.onAnnounced(({ method }) => {
    const kind = LIST_CHANGES.find((known) => known.method === method);
    if (kind !== undefined && agreed[kind.filter] === true) {
      void output.send({ jsonrpc: '2.0', method, params: { _meta } });
    }
  }, client.principal);
  try {
    const outcome = await carried.send(carried.params(), {
      longLived: true,
      onMessage(message) {
        carried.relay(message);
        const { notifications } = message.params ?? {};
        const isAgreement = message.method === 'notifications/subscriptions/acknowledged';
        if (isAgreement && isJsonObject(notifications)) agreed = notifications;
      },
    });
    return carried.respond(outcome);
  } finally {
    stop();
  }
}
