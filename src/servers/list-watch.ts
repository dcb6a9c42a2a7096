// Hears of list changes at a modern server: one listen stream on the link that lists are served from, for as long as
// that link is open. What ends upstream is opened again, and counts as a change of everything: some may be missed.
import { setTimeout as delay } from 'node:timers/promises';
import { META } from '../protocol/era.ts';
import { isJsonObject, type JsonObject } from '../protocol/json-text.ts';
import { promisedListChanges } from '../protocol/list-changes.ts';
import { ReopenPause } from './reopen-pause.ts';
import type { ServerLink } from './server-link.ts';
import type { ServerMessage } from './transport.ts';

const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60_000;

/**
 * Runs until the link closes or nobody wants to know any more; never rejects. Does nothing for a server that promises
 * no list changes.
 */
export async function watchLists(
  link: ServerLink,
  onMessage: (message: ServerMessage) => void,
  { unwanted, firstPauseMs = FIRST_PAUSE_MS }: { unwanted: AbortSignal; firstPauseMs?: number },
): Promise<void> {
  const kinds = promisedListChanges(link.peer.capabilities);
  if (link.peer.era === 'legacy' || kinds.length === 0) return;
  const notifications: JsonObject = Object.fromEntries(kinds.map(({ filter }) => [filter, true]));
  const over = new AbortController();
  const stop = () => over.abort();
  void link.closed.then(stop);
  if (unwanted.aborted) stop();
  else unwanted.addEventListener('abort', stop, { signal: over.signal });
  const pause = new ReopenPause({ firstMs: firstPauseMs, maxMs: MAX_PAUSE_MS });
  let again = false;
  while (link.open && !over.signal.aborted) {
    let acknowledged = false;
    const askedAt = performance.now();
    const receive = (message: ServerMessage) => {
      if (message.method !== 'notifications/subscriptions/acknowledged') {
        onMessage(withoutSubscription(message));
        return;
      }
      acknowledged = true;
      if (!again) return;
      for (const { method } of kinds) onMessage({ jsonrpc: '2.0', method });
    };
    const params = link.withOwnMeta({ notifications });
    const options = { signal: over.signal, longLived: true, background: true, onMessage: receive };
    await link.call('subscriptions/listen', params, options).catch(() => undefined);
    again ||= acknowledged;
    const pauseMs = pause.after(acknowledged ? performance.now() - askedAt : 0);
    await delay(pauseMs, undefined, { signal: over.signal, ref: false }).catch(() => undefined);
  }
}

function withoutSubscription(message: ServerMessage): ServerMessage {
  const meta = message.params?._meta;
  if (!isJsonObject(meta) || !(META.subscriptionId in meta)) return message;
  const { [META.subscriptionId]: _id, ..._meta } = meta;
  return { ...message, params: { ...message.params, _meta } };
}
