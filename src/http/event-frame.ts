// The bytes of server-sent events. A message is one line of JSON, in which a line end is always escaped, so `data`
// never needs splitting.

export const EVENT_STREAM = 'text/event-stream';
export const KEEP_ALIVE_COMMENT = ': keep-alive\n\n';

export function eventFrame(json: string, eventId: string | undefined): string {
  const [begin, end] = eventBounds(eventId);
  return `${begin}${json}${end}`;
}

/** What stands before and behind the message. */
export function eventBounds(eventId: string | undefined): readonly [begin: string, end: string] {
  return [eventId === undefined ? 'data: ' : `id: ${eventId}\ndata: `, '\n\n'];
}

/** How long a client that lost its connection waits before it asks for the rest. */
const RETRY_MS = 1_000;

/** An id with empty data: where to resume from before the first message (2025-11-25, transports). */
export function primingFrame(eventId: string): string {
  return `id: ${eventId}\nretry: ${RETRY_MS}\ndata:\n\n`;
}
