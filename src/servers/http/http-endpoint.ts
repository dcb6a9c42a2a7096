// One request to a server's URL and the head of its answer: signed in, with the redirects that are followed.
// A redirect never leaves the origin, so no header of ours does either (F52).
import type { Dispatcher } from 'undici';
import type { StopSignal } from '../../runtime/stop.ts';
import type { Caller } from '../credentials/caller.ts';
import { type LinkCredential, NO_CREDENTIAL } from '../credentials/link-credential.ts';
import type { OutboundUse } from './outbound.ts';
import type { HeaderMap } from './upstream-headers.ts';
import { unavailable } from './upstream-http-error.ts';
import { type HttpAnswer, sendOnWire } from './wire-request.ts';

export interface HttpRequest {
  readonly method: 'POST' | 'GET' | 'DELETE';
  readonly headers: HeaderMap;
  readonly body?: Buffer;
  readonly use: OutboundUse;
  /** On whose behalf; undefined for what belongs to no call. */
  readonly caller?: Caller | undefined;
  /** Aborting breaks the exchange at any time, also while its answer's body is read. */
  readonly signal: StopSignal;
}

const MAX_REDIRECTS = 3;
/** A body that nobody wants is read up to here, to keep its connection; beyond it the connection goes. */
const MAX_DISCARDED_BYTES = 64 * 1024;
const DISCARD_TIMEOUT_MS = 1_000;

export class HttpEndpoint {
  readonly #dispatcherFor: (use: OutboundUse) => Dispatcher;
  readonly #credential: LinkCredential;
  #target: Target;

  constructor(
    url: URL,
    dispatcherFor: (use: OutboundUse) => Dispatcher,
    credential: LinkCredential = NO_CREDENTIAL,
  ) {
    this.#target = targetOf(url);
    this.#dispatcherFor = dispatcherFor;
    this.#credential = credential;
  }

  /**
   * Sends one request, and once more where the server refuses the credential that it came with.
   *
   * @throws GatewayError server-unavailable, credential-refused, or the signal's reason when aborted
   */
  send(request: HttpRequest): Promise<HttpAnswer> {
    const { caller, signal } = request;
    return this.#credential.carry({ caller, signal }, (headers) => this.#follow(request, headers), discard);
  }

  #follow(request: HttpRequest, signedIn: HeaderMap): Promise<HttpAnswer> {
    const headers = { ...request.headers, ...signedIn };
    return this.#sendTo(this.#target, request, headers).then((answer) =>
      isRedirect(answer) ? this.#redirected(answer, request, headers) : answer,
    );
  }

  /** Follows 307 and 308 within the origin with method and body kept. */
  async #redirected(first: HttpAnswer, request: HttpRequest, headers: HeaderMap): Promise<HttpAnswer> {
    let answer = first;
    let permanent = true;
    for (let redirects = 0; isRedirect(answer); redirects += 1) {
      discard(answer);
      if (redirects === MAX_REDIRECTS)
        throw unavailable('redirect-refused', 'the server redirects in circles');
      const target = targetOf(redirectTarget(answer.url, answer.headers.location));
      permanent &&= answer.status === 308;
      if (permanent) this.#target = target;
      answer = await this.#sendTo(target, request, headers);
    }
    return answer;
  }

  #sendTo(
    { url, origin, path }: Target,
    { method, body, use, signal }: HttpRequest,
    headers: HeaderMap,
  ): Promise<HttpAnswer> {
    const options = { origin, path, method, headers, body: body ?? null };
    return sendOnWire(this.#dispatcherFor(use), { url, options, signal });
  }
}

/** A URL, taken apart once rather than for each request. */
interface Target {
  readonly url: URL;
  readonly origin: string;
  readonly path: string;
}

function targetOf(url: URL): Target {
  return { url, origin: url.origin, path: url.pathname + url.search };
}

function isRedirect({ status }: HttpAnswer): boolean {
  return status === 307 || status === 308;
}

function redirectTarget(from: URL, location: string | string[] | undefined): URL {
  const text = typeof location === 'string' ? location : '';
  const target = text !== '' && URL.canParse(text, from.href) ? new URL(text, from) : undefined;
  if (target === undefined) throw unavailable('redirect-refused', 'the server redirects to nowhere');
  if (target.origin !== from.origin) {
    throw unavailable(
      'redirect-refused',
      'the server redirects to another origin; configure that URL instead',
    );
  }
  return target;
}

/** Gets rid of a body that says nothing to us, without waiting for it. */
export function discard({ body }: HttpAnswer): void {
  const timer = setTimeout(() => body.destroy(), DISCARD_TIMEOUT_MS).unref();
  const over = () => clearTimeout(timer);
  let bytes = 0;
  body.read({
    onChunk(chunk) {
      bytes += chunk.length;
      if (bytes > MAX_DISCARDED_BYTES) body.destroy();
    },
    onEnd: over,
    onBroken: over,
  });
}
