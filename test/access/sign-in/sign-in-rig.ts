// The authenticator over real sockets, with an issuer that a test commands and a clock that it turns.
import type { TestContext } from 'node:test';
import type { Principal } from '../../../src/access/principal.ts';
import type { ScopeHierarchy } from '../../../src/access/scopes.ts';
import { type Authenticator, createAuthenticator } from '../../../src/access/sign-in/authenticator.ts';
import type { KeyTiming } from '../../../src/access/sign-in/issuer-keys.ts';
import type { AuthConfig, IssuerConfig } from '../../../src/config/auth-config.ts';
import { GatewayError } from '../../../src/errors.ts';
import { createFetchJson } from '../../../src/servers/http/fetch-json.ts';
import { createOutbound } from '../../../src/servers/http/outbound.ts';
import { createLogger } from '../../../src/telemetry/logger.ts';
import {
  type SigningKey,
  signingKey,
  signToken,
  startTokenIssuer,
  type TokenIssuer,
} from '../../support/token-issuer.ts';

export const PUBLIC_URL = 'https://mcp.example.com';
export const RESOURCE = `${PUBLIC_URL}/mcp`;

export interface RigOptions {
  readonly publicUrl?: string;
  readonly issuer?: Partial<IssuerConfig>;
  readonly auth?: Partial<AuthConfig>;
  readonly scopeImplies?: ScopeHierarchy;
  readonly timing?: Partial<KeyTiming>;
  /** Path of the issuer. */
  readonly issuerPath?: string;
}

export interface Rig {
  readonly authenticator: Authenticator;
  readonly issuer: TokenIssuer;
  /** Published from the start. */
  readonly key: SigningKey;
  readonly logs: string[];
  /** What other replicas would be told: the issuer, each time that its keys had changed. */
  readonly changed: string[];
  /** `Date.now()` for everything here; whole seconds at first. */
  clock: { nowMs: number };
  /** Claims of a good token, and what differs; undefined leaves a claim out. */
  claims(changes?: Readonly<Record<string, unknown>>): Record<string, unknown>;
  /** A good token but for these. */
  token(claims?: Readonly<Record<string, unknown>>, header?: Readonly<Record<string, unknown>>): string;
  signIn(token: string, view?: string): Promise<Principal>;
  /** `ok`, or `code/reason` of the refusal. */
  verdict(token: string, view?: string): Promise<string>;
}

export async function startRig(t: TestContext, options: RigOptions = {}): Promise<Rig> {
  const issuer = await startTokenIssuer(t, options.issuerPath);
  const key = signingKey('ES256', 'first');
  issuer.keys = [key];
  const logs: string[] = [];
  const changed: string[] = [];
  const clock = { nowMs: Math.floor(Date.now() / 1000) * 1000 };
  const outbound = createOutbound({ proxy: undefined, ca: undefined });
  const authenticator = createAuthenticator({
    auth: {
      issuers: [issuer.config(options.issuer)],
      apiKeys: [],
      scopesSupported: [],
      requiredScopes: [],
      ...options.auth,
    },
    publicUrl: options.publicUrl ?? PUBLIC_URL,
    logger: createLogger({ level: 'trace', secrets: [], destination: { write: (line) => logs.push(line) } }),
    fetchJson: createFetchJson(outbound),
    now: () => clock.nowMs,
    onKeysChanged: (name) => changed.push(name),
    keyTiming: options.timing ?? {},
    ...(options.scopeImplies === undefined ? {} : { scopeImplies: options.scopeImplies }),
  });
  t.after(async () => {
    authenticator.close();
    await outbound.close();
  });

  const rig: Rig = {
    authenticator,
    issuer,
    key,
    logs,
    changed,
    clock,
    claims: (changes = {}) => ({
      iss: issuer.issuer,
      aud: RESOURCE,
      sub: 'alice',
      client_id: 'app',
      scope: 'mcp',
      iat: clock.nowMs / 1000,
      exp: clock.nowMs / 1000 + 300,
      ...changes,
    }),
    token: (changes, header) =>
      signToken(key, { typ: 'at+jwt', alg: 'ES256', kid: 'first', ...header }, rig.claims(changes)),
    signIn: (token, view) =>
      authenticator.authenticate({ authorization: [`Bearer ${token}`], tokenInQuery: false, view }),
    async verdict(token, view) {
      try {
        await rig.signIn(token, view);
        return 'ok';
      } catch (thrown) {
        if (!(thrown instanceof GatewayError)) throw thrown;
        return `${thrown.code}/${thrown.details.reason ?? ''}`;
      }
    },
  };
  return rig;
}
