// Which requests say how long an operation takes: streams that live for hours do not.

const STREAMS: ReadonlySet<string> = new Set(['subscriptions/listen', 'GET']);

export function isTimed(method: string | undefined): method is string {
  return method !== undefined && !STREAMS.has(method);
}
