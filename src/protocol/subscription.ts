// What a subscription says of itself: each of its messages names it by the id of the request that opened it
// (2026-07-28, basic/patterns/subscriptions).
import { META } from './era.ts';
import type { JsonRpcOutcome } from './json-rpc.ts';
import { type JsonObject, type JsonValue, readJson } from './json-text.ts';

/** @param idText the id as it was written, digit by digit */
export function subscriptionMeta(idText: string): JsonObject {
  return { [META.subscriptionId]: readJson(idText) as JsonValue };
}

/** What it ends with where it is not its client that ends it. */
export function subscriptionComplete(idText: string): JsonRpcOutcome {
  return { result: { resultType: 'complete', _meta: subscriptionMeta(idText) } };
}
