// How the requests of one link are signed in: each with the credential of who it is for; what is for nobody, such as a
// stream of the server's own, with the one that the link was shown last.
import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../../errors.ts';
import type { StopSignal } from '../../runtime/stop.ts';
import { unlessAborted } from '../within-time.ts';
import type { Caller } from './caller.ts';
import { type Credential, CredentialFailure, type CredentialSource } from './credential.ts';
import { challengeWords } from './foreign-words.ts';

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
}

/** Sends a request with these headers besides its own. */
export type SendWith<A extends Answer> = (headers: Readonly<Record<string, string>>) => Promise<A>;

const NO_HEADERS: Readonly<Record<string, string>> = {};

export interface LinkCredentialOptions {
  /** Undefined: what is configured as headers is all. */
  readonly source: CredentialSource | undefined;
  /** Told of each failure, once for each request that fails by it. */
  report(failure: CredentialFailure): void;
}

export class LinkCredential {
  readonly #source: CredentialSource | undefined;
  readonly #report: LinkCredentialOptions['report'];
  #shown: Credential | undefined;

  constructor({ source, report }: LinkCredentialOptions) {
    this.#source = source;
    this.#report = report;
  }

  /** @throws GatewayError credential-refused, or the signal's reason */
  present(caller: Caller | undefined, signal: StopSignal): Promise<void> | undefined {
    const source = this.#source;
    if (!source?.personal || caller === undefined) return undefined;
    return this.#obtain(source, caller, signal).then((credential) => {
      this.#shown = credential;
    });
  }

  /**
   * Sends a request signed in; once more with another credential where the server answers 401, which it does before it
   * takes a request.
   *
   * @param discard gets rid of an answer that another one replaces
   * @throws GatewayError credential-refused where there is no credential, or what `send` throws
   */
  carry<A extends Answer>(
    whose: { caller: Caller | undefined; signal: StopSignal },
    send: SendWith<A>,
    discard: (answer: A) => void,
  ): Promise<A> {
    const source = this.#source;
    if (source === undefined) return send(NO_HEADERS).then((answer) => this.#noted(answer));
    return this.#carryWith(source, whose, { send, discard });
  }

  async #carryWith<A extends Answer>(
    source: CredentialSource,
    { caller, signal }: { caller: Caller | undefined; signal: StopSignal },
    { send, discard }: { send: SendWith<A>; discard: (answer: A) => void },
  ): Promise<A> {
    const next = async () =>
      source.personal && caller === undefined && this.#shown !== undefined
        ? this.#shown
        : this.#obtain(source, caller, signal);
    const credential = await next();
    const answer = await send(headersOf(credential));
    if (answer.status !== 401 || !source.forget(credential, caller)) return this.#noted(answer);
    discard(answer);
    return this.#noted(await send(headersOf(await next())));
  }

  async #obtain(
    source: CredentialSource,
    caller: Caller | undefined,
    signal: StopSignal,
  ): Promise<Credential> {
    try {
      return await unlessAborted(source.credentialFor(caller), signal);
    } catch (thrown) {
      if (!(thrown instanceof CredentialFailure)) throw thrown;
      this.#report(thrown);
      throw credentialRefused(thrown);
    }
  }

  #noted<A extends Answer>(answer: A): A {
    const { status, headers } = answer;
    if (status === 401 || status === 403) {
      const said = challengeWords(headers['www-authenticate']);
      const words = `the server answered ${status}${said === '' ? '' : `: ${said}`}`;
      this.#report(new CredentialFailure('server-refused', words));
    }
    return answer;
  }
}

/** For servers that need none, or know us by a header. */
export const NO_CREDENTIAL = new LinkCredential({ source: undefined, report() {} });

/** What a caller hears of it: that it is so, and when to come back. */
export function credentialRefused(failure: CredentialFailure): GatewayError {
  const { reason, retryAfterMs } = failure;
  return new GatewayError('credential-refused', {
    reason,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    cause: failure,
  });
}

function headersOf({ token }: Credential): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${token}` };
}
