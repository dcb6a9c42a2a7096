// Opaque tokens: only their issuer can say what they are (RFC 7662). Asked once for everyone who waits, and never
// by too many at a time, since every token that somebody makes up costs a question.
import type { IssuerConfig } from '../../config/auth-config.ts';
import { GatewayError } from '../../errors.ts';
import type { FetchJson } from '../../servers/http/fetch-json.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { OutageLog } from './outage-log.ts';
import type { ResourceIdentifiers } from './resource-identifiers.ts';
import { readTokenClaims, type TokenClaims, type TokenFacts } from './token-claims.ts';
import { saysOtherKind } from './token-kind.ts';
import { tokenRefused } from './token-refusal.ts';

export interface IntrospectionOptions {
  readonly issuer: IssuerConfig & { readonly introspection: NonNullable<IssuerConfig['introspection']> };
  readonly resources: ResourceIdentifiers;
  readonly fetchJson: FetchJson;
  readonly logger: Logger;
  now(): number;
}

export interface IntrospectedToken {
  readonly claims: TokenClaims;
  readonly facts: TokenFacts & { readonly expiresAtMs: number };
}

/** For issuers that do not say when a token ends. */
const UNSTATED_LIFETIME_MS = 60 * 60_000;
/** Tokens that are bound to a key, or are none for resources (RFC 9449, section 6.2; RFC 8693, section 2.2.1). */
const BOUND_TYPE = /^(dpop|pop|mac|n_a)$/i;
const MAX_CONCURRENT = 64;
const RETRY_AFTER_MS = 2_000;

export class Introspection {
  readonly #options: IntrospectionOptions;
  readonly #outage: OutageLog;
  readonly #closing = new AbortController();
  readonly #asking = new Map<string, Promise<IntrospectedToken>>();

  constructor(options: IntrospectionOptions) {
    this.#options = options;
    const { logger, issuer, now } = options;
    const words = {
      failing: 'an issuer cannot be asked about tokens',
      back: 'an issuer answers about tokens again',
    };
    this.#outage = new OutageLog(logger.child({ issuer: issuer.issuer }), words, now);
  }

  /**
   * @param tokenId the token's hash
   * @throws GatewayError token-invalid, or issuer-unavailable where the issuer cannot be asked
   */
  ask(token: string, tokenId: string): Promise<IntrospectedToken> {
    const waiting = this.#asking.get(tokenId);
    if (waiting !== undefined) return waiting;
    if (this.#asking.size >= MAX_CONCURRENT) return Promise.reject(unavailable('introspection_busy'));
    const asking = this.#introspect(token).finally(() => this.#asking.delete(tokenId));
    this.#asking.set(tokenId, asking);
    return asking;
  }

  close(): void {
    this.#closing.abort();
  }

  async #introspect(token: string): Promise<IntrospectedToken> {
    const { issuer, resources, now } = this.#options;
    const claims = await this.#answerFor(token);
    // Nothing but `true` is a yes.
    if (claims.active !== true) throw tokenRefused('token_inactive');
    if (claims.iss !== undefined && claims.iss !== issuer.issuer) throw tokenRefused('token_issuer');
    if (saysOtherKind(claims)) throw tokenRefused('token_kind');
    if (BOUND_TYPE.test(String(claims.token_type ?? ''))) throw tokenRefused('token_bound');
    const nowMs = now();
    const facts = readTokenClaims(claims, { issuer, resources, nowMs });
    return { claims, facts: { ...facts, expiresAtMs: facts.expiresAtMs ?? nowMs + UNSTATED_LIFETIME_MS } };
  }

  async #answerFor(token: string): Promise<TokenClaims> {
    const { issuer, fetchJson } = this.#options;
    const { endpoint, clientId, clientSecret } = issuer.introspection;
    try {
      const { status, body } = await fetchJson({
        url: endpoint,
        headers: { authorization: basicCredentials(clientId, clientSecret) },
        form: { token, token_type_hint: 'access_token' },
        signal: this.#closing.signal,
      });
      // A refusal is one of us, not of the token.
      if (status !== 200 || body === undefined) throw new Error(`introspection answered ${status}`);
      this.#outage.worked();
      return body;
    } catch (thrown) {
      if (!this.#closing.signal.aborted) this.#outage.failed(thrown);
      throw unavailable('introspection', thrown);
    }
  }
}

/** RFC 6749, section 2.3.1: each part form-encoded first. */
function basicCredentials(clientId: string, clientSecret: string): string {
  const [id, secret] = [clientId, clientSecret].map((part) =>
    new URLSearchParams({ '': part }).toString().slice(1),
  );
  return `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
}

function unavailable(reason: string, cause?: unknown): GatewayError {
  return new GatewayError('issuer-unavailable', { retryAfterMs: RETRY_AFTER_MS, reason, cause });
}
