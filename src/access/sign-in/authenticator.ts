// Who is calling, from what the request carries: the resource server of OAuth 2.1. It decides once a token, remembers
// it by its hash, and never hands it on.
import { hash } from 'node:crypto';
import type { AuthConfig, IssuerConfig } from '../../config/auth-config.ts';
import { GatewayError } from '../../errors.ts';
import type { StopSignal } from '../../runtime/stop.ts';
import type { FetchJson } from '../../servers/http/fetch-json.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { ANONYMOUS, type Principal } from '../principal.ts';
import { hasScopes, type ScopeHierarchy } from '../scopes.ts';
import { decodeAccessToken, verifyAccessToken } from './access-token.ts';
import { ApiKeys } from './api-keys.ts';
import { bearerChallenge, type Challenge } from './bearer-challenge.ts';
import { readBearerToken, type SignInAttempt, usualToken } from './bearer-token.ts';
import { CredentialWatch } from './credential-watch.ts';
import { Introspection } from './introspection.ts';
import { DEFAULT_KEY_TIMING, IssuerKeys, type KeyFetchOutcome, type KeyTiming } from './issuer-keys.ts';
import { type OpenedViews, resourceIdentifiers } from './resource-identifiers.ts';
import { type ResourceMetadata, resourceMetadata } from './resource-metadata.ts';
import { TokenCache } from './token-cache.ts';
import type { TokenFacts } from './token-claims.ts';
import { tokenRefused } from './token-refusal.ts';

export interface Authenticator {
  /**
   * `ANONYMOUS` where no sign-in is configured.
   *
   * @throws GatewayError token-missing, token-invalid, scope-insufficient, issuer-unavailable
   */
  authenticate(attempt: SignInAttempt): Promise<Principal>;
  /**
   * What `authenticate` would give where the credential has been looked at before; undefined where that takes its time.
   *
   * @throws GatewayError as `authenticate`
   */
  recognize(attempt: SignInAttempt): Principal | undefined;
  /** The value of `WWW-Authenticate`. */
  challenge(challenge: Challenge): string;
  /** The metadata document of a view; undefined where there is nowhere to sign in. */
  metadata(view: string | undefined): ResourceMetadata | undefined;
  /**
   * For streams: a signal that aborts when the caller's credential has expired, its key is withdrawn, or this
   * authenticator gives way to another. Watched until `done` aborts.
   */
  watch(principal: Principal, done: StopSignal): StopSignal;
  /** Fetches the issuers' keys ahead of the first token. What fails is logged, and tried again when it is needed. */
  warmUp(): void;
  /** Another replica has met other keys of an issuer: they are fetched anew, once a cooldown however often it is said. */
  noteKeysChanged(issuer: string): void;
  /** Ends what is watched and forgets every token. Idempotent. */
  close(): void;
}

export interface AuthenticatorOptions {
  /** Undefined: everyone is anonymous. */
  readonly auth: AuthConfig | undefined;
  readonly publicUrl: string;
  readonly logger: Logger;
  readonly fetchJson: FetchJson;
  readonly scopeImplies?: ScopeHierarchy;
  /** Called after each attempt to fetch the keys of an issuer. */
  onKeyFetch?(issuer: string, outcome: KeyFetchOutcome): void;
  /** Called when the keys of an issuer are not those of before, which other replicas may not know. */
  onKeysChanged?(issuer: string): void;
  /** `Date.now` */
  readonly now?: () => number;
  readonly keyTiming?: Partial<KeyTiming>;
}

interface SignedIn {
  readonly principal: Principal;
  readonly opens: OpenedViews;
  readonly untilMs: number;
  /** False once the key is gone that signed the token. */
  isVouchedFor(): boolean;
}

const MAX_CACHED_TOKENS = 10_000;
/** What an issuer said of an opaque token counts for this long: so late is a revocation noticed. */
const INTROSPECTION_CACHE_MS = 15_000;
/** Where keys become old right behind a review, the next one notices it soon. */
const REVIEWS_WHILE_FRESH = 10;

export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const { auth, publicUrl, logger, fetchJson, scopeImplies, now = Date.now, keyTiming = {} } = options;
  const watches = new CredentialWatch(now);
  if (auth === undefined) return openToAll(watches);

  const { requiredScopes: required } = auth;
  const resources = resourceIdentifiers(publicUrl);
  const apiKeys = new ApiKeys(auth.apiKeys);
  const issuers = new Map(auth.issuers.map((issuer) => [issuer.issuer, { issuer, keys: keysOf(issuer) }]));
  const introspecting = auth.issuers.find(isIntrospecting);
  const introspection =
    introspecting && new Introspection({ issuer: introspecting, resources, fetchJson, logger, now });
  const accepted = new TokenCache<SignedIn>(MAX_CACHED_TOKENS);
  const refused = new TokenCache<{ untilMs: number; error: GatewayError }>(MAX_CACHED_TOKENS);
  /** How the principals that are out there signed in. */
  const signIns = new WeakMap<Principal, SignedIn>();
  // An open stream asks nothing of the keys by itself, and would not notice that its own has been withdrawn.
  const { freshMs } = { ...DEFAULT_KEY_TIMING, ...keyTiming };
  const reviewer = setInterval(() => {
    if (watches.size > 0) watches.review();
  }, freshMs / REVIEWS_WHILE_FRESH).unref();

  function keysOf(issuer: IssuerConfig): IssuerKeys {
    const onWithdrawn = () => watches.review();
    const onChanged = () => options.onKeysChanged?.(issuer.issuer);
    const onFetched = (outcome: KeyFetchOutcome) => options.onKeyFetch?.(issuer.issuer, outcome);
    return new IssuerKeys({
      ...{ fetchJson, logger, now, onWithdrawn, onChanged, onFetched },
      config: issuer,
      timing: keyTiming,
    });
  }

  /** In one shot: a Hash object costs several times what it hashes here. */
  function idOf(token: string): string {
    return hash('sha256', token, 'base64url');
  }

  function recognized(tokenId: string): SignedIn | undefined {
    const known = accepted.get(tokenId, now());
    return known?.isVouchedFor() ? known : undefined;
  }

  async function signInWith(token: string): Promise<SignedIn> {
    const tokenId = idOf(token);
    const known = recognized(tokenId);
    if (known !== undefined) return known;
    const machine = apiKeys.find(Buffer.from(tokenId, 'base64url'));
    const signedIn =
      machine === undefined ? await signInByIssuer(token, tokenId) : { ...FOREVER, principal: machine };
    if (machine === undefined) accepted.set(tokenId, signedIn);
    signIns.set(signedIn.principal, signedIn);
    return signedIn;
  }

  async function signInByIssuer(token: string, tokenId: string): Promise<SignedIn> {
    const decoded = decodeAccessToken(token);
    if (decoded === undefined) return signInOpaque(token, tokenId);
    // Unverified: it only says whose keys to hold the token against.
    const { iss } = decoded.claims;
    const known = typeof iss === 'string' ? issuers.get(iss) : undefined;
    if (known === undefined) throw tokenRefused('token_issuer');
    const { facts, fingerprint } = await verifyAccessToken(token, decoded, {
      ...known,
      resources,
      nowMs: now(),
    });
    return {
      principal: principalOf(known.issuer.issuer, facts, { claims: decoded.claims, tokenId }),
      opens: facts.opens,
      untilMs: facts.expiresAtMs,
      isVouchedFor: () => known.keys.vouchFor(fingerprint),
    };
  }

  async function signInOpaque(token: string, tokenId: string): Promise<SignedIn> {
    if (introspecting === undefined || introspection === undefined) throw tokenRefused('token_opaque');
    const dead = refused.get(tokenId, now());
    if (dead !== undefined) throw dead.error;
    try {
      const { claims, facts } = await introspection.ask(token, tokenId);
      return {
        principal: principalOf(introspecting.issuer, facts, { claims, tokenId }),
        opens: facts.opens,
        untilMs: Math.min(facts.expiresAtMs, now() + INTROSPECTION_CACHE_MS),
        isVouchedFor: () => true,
      };
    } catch (thrown) {
      if (thrown instanceof GatewayError && thrown.code === 'token-invalid') {
        refused.set(tokenId, { untilMs: now() + INTROSPECTION_CACHE_MS, error: thrown });
      }
      throw thrown;
    }
  }

  /** @throws GatewayError where the credential is good, and not for this */
  function admitted({ principal, opens }: SignedIn, { view }: SignInAttempt): Principal {
    if (opens !== 'every' && (view === undefined || !opens.has(view))) throw tokenRefused('token_view');
    if (!hasScopes(principal.scopes, required, scopeImplies)) {
      throw new GatewayError('scope-insufficient', { scopes: required, reason: 'required_scopes' });
    }
    return principal;
  }

  return {
    authenticate: async (attempt) => admitted(await signInWith(readBearerToken(attempt)), attempt),
    recognize(attempt) {
      const known = recognized(idOf(usualToken(attempt) ?? readBearerToken(attempt)));
      return known && admitted(known, attempt);
    },
    challenge: (challenge) =>
      bearerChallenge({ resources, hasMetadata: issuers.size > 0, requiredScopes: required }, challenge),
    metadata: (view) => resourceMetadata(auth, resources, view),
    watch(principal, done) {
      return watches.watch({ expiresAtMs: principal.expiresAtMs, signedIn: signIns.get(principal) }, done);
    },
    warmUp() {
      for (const { keys } of issuers.values()) keys.refresh();
    },
    noteKeysChanged: (issuer) => issuers.get(issuer)?.keys.noteChanged(),
    close() {
      clearInterval(reviewer);
      for (const { keys } of issuers.values()) keys.close();
      introspection?.close();
      accepted.clear();
      refused.clear();
      watches.endAll();
    },
  };
}

const FOREVER = { opens: 'every', untilMs: Number.POSITIVE_INFINITY, isVouchedFor: () => true } as const;

function openToAll(watches: CredentialWatch): Authenticator {
  return {
    authenticate: async () => ANONYMOUS,
    recognize: () => ANONYMOUS,
    challenge: () => 'Bearer',
    metadata: () => undefined,
    watch: (_principal, done) => watches.watch({ expiresAtMs: undefined, signedIn: undefined }, done),
    warmUp() {},
    noteKeysChanged() {},
    close: () => watches.endAll(),
  };
}

function principalOf(
  issuer: string,
  { subject, clientId, scopes, groups, expiresAtMs }: TokenFacts,
  { claims, tokenId }: Pick<Principal, 'claims' | 'tokenId'>,
): Principal {
  return { issuer, subject, clientId, scopes, groups, claims, tokenId, expiresAtMs };
}

function isIntrospecting(
  issuer: IssuerConfig,
): issuer is IssuerConfig & { introspection: NonNullable<IssuerConfig['introspection']> } {
  return issuer.introspection !== undefined;
}
