// One request for one JSON document, to addresses that the operator configured or that a configured issuer named:
// no redirect is followed, nothing without an end is read, and nothing takes long.
import { isJsonObject, type JsonObject } from '../../protocol/json-text.ts';
import { anySignal, type StopSignal } from '../../runtime/stop.ts';
import type { Outbound } from './outbound.ts';

export interface JsonRequest {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** With it the request is a POST of a form. */
  readonly form?: Readonly<Record<string, string>>;
  readonly signal: StopSignal;
}

export interface JsonAnswer {
  readonly status: number;
  /** Undefined where the body is no JSON object. */
  readonly body: JsonObject | undefined;
}

/** Rejects where no answer came in time, or one that is too large. */
export type FetchJson = (request: JsonRequest) => Promise<JsonAnswer>;

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 512 * 1024;
const HTTP_URL = /^https?:\/\//i;

export function createFetchJson(outbound: Pick<Outbound, 'dispatcherTo'>): FetchJson {
  return async ({ url, headers = {}, form, signal }) => {
    if (!HTTP_URL.test(url) || !URL.canParse(url)) throw new Error('not an http:// or https:// URL');
    const target = new URL(url);
    const { origin, pathname, search } = target;
    const { statusCode, body } = await outbound.dispatcherTo(target).request({
      origin,
      path: pathname + search,
      method: form === undefined ? 'GET' : 'POST',
      headers: {
        accept: 'application/json',
        ...(form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
        ...headers,
      },
      ...(form === undefined ? {} : { body: new URLSearchParams(form).toString() }),
      signal: anySignal([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    return { status: statusCode, body: parseObject(await readBounded(body)) };
  };
}

async function readBounded(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    // Leaving the loop destroys the body and its connection.
    if (size > MAX_BYTES) throw new Error(`the answer is larger than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
