// The configs of docs/auth.md: each loads, takes the tokens that its provider documents, and nothing else that the
// provider issues. That of oidc-provider runs against a real one.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { type TestContext, test } from 'node:test';
import { createAccessPolicy } from '../src/access/rules/access-policy.ts';
import { type Authenticator, createAuthenticator } from '../src/access/sign-in/authenticator.ts';
import type { SignInAttempt } from '../src/access/sign-in/bearer-token.ts';
import { NO_ACCESS } from '../src/config/access-config.ts';
import type { Config } from '../src/config/config.ts';
import { GatewayError } from '../src/errors.ts';
import type { JsonObject } from '../src/protocol/json-text.ts';
import type { FetchJson } from '../src/servers/http/fetch-json.ts';
import { createLogger } from '../src/telemetry/logger.ts';
import { loadedConfig } from './config/written-config.ts';
import { startAuthorizationServer } from './support/authorization-server.ts';
import { startFaultyHttpServer } from './support/faulty-http-server.ts';
import { freePort } from './support/free-port.ts';
import { PROVIDERS, type ProviderCase } from './support/provider-tokens.ts';
import { ModernClient } from './support/raw-session.ts';
import { signIn } from './support/scripted-sign-in.ts';
import { startGateway } from './support/start-gateway.ts';
import { type SigningKey, signingKey, signToken } from './support/token-issuer.ts';

const DOCUMENT = await readFile(new URL('../docs/auth.md', import.meta.url), 'utf8');
const SERVERS = 'mcpServers: { docs: { url: "http://127.0.0.1:9/mcp" } }\n';
/** By the heading that it stands under. */
const BLOCKS = new Map(
  DOCUMENT.split(/^#+ /m).flatMap((part) => {
    const yaml = /^```yaml\n(.*?)^```/ms.exec(part)?.[1];
    return yaml === undefined ? [] : [[part.slice(0, part.indexOf('\n')), yaml]];
  }),
);

async function recipe(
  t: TestContext,
  heading: string,
  env: Readonly<Record<string, string>>,
): Promise<Config> {
  const { config, warnings } = await loadedConfig(t, SERVERS + (BLOCKS.get(heading) ?? ''), { env });
  assert.deepEqual(warnings, []);
  return config;
}

test('docs/auth.md has a config for sign-in as such, and for each provider', async (t) => {
  assert.deepEqual([...BLOCKS.keys()], ['Sign-in', ...Object.keys(PROVIDERS), 'oidc-provider']);
  const config = await recipe(t, 'Sign-in', { CI_KEY_SHA256: 'ab'.repeat(32) });
  assert.equal(config.gateway.auth?.apiKeys[0]?.name, 'ci');
});

/** The provider's documents and nothing else: there is no asking the real ones. */
function fetchFrom({ issuer, metadataUrl, jwksUri }: ProviderCase, key: SigningKey): FetchJson {
  const { alg: _, ...jwk } = key.jwk;
  const documents = new Map<string, unknown>([
    [metadataUrl, { issuer, jwks_uri: jwksUri }],
    [jwksUri, { keys: [jwk] }],
  ]);
  return async ({ url }) => {
    const document = documents.get(url);
    return document === undefined
      ? { status: 404, body: undefined }
      : { status: 200, body: document as JsonObject };
  };
}

function sent(token: string): SignInAttempt {
  return { authorization: [`Bearer ${token}`], tokenInQuery: false, view: undefined };
}

async function verdict(authenticator: Authenticator, token: string): Promise<string> {
  try {
    await authenticator.authenticate(sent(token));
    return 'ok';
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown;
    return String(thrown.details.reason);
  }
}

interface Tried {
  readonly gateway: Config['gateway'];
  readonly authenticator: Authenticator;
  /** The good token, but for these. */
  token(claims?: Readonly<Record<string, unknown>>, header?: Readonly<Record<string, unknown>>): string;
}

async function tryRecipe(t: TestContext, name: string, provider: ProviderCase): Promise<Tried> {
  const { gateway } = await recipe(t, name, provider.env);
  const key = signingKey('RS256', 'provider-key');
  const authenticator = createAuthenticator({
    auth: gateway.auth,
    publicUrl: gateway.publicUrl,
    logger: createLogger({ level: 'silent', secrets: [] }),
    fetchJson: fetchFrom(provider, key),
  });
  t.after(() => authenticator.close());
  const now = Math.floor(Date.now() / 1000);
  const good = { iss: provider.issuer, iat: now, nbf: now, exp: now + 300, ...provider.claims };
  return {
    gateway,
    authenticator,
    token: (claims, header) =>
      signToken(key, { ...provider.header, kid: key.kid, ...header }, { ...good, ...claims }),
  };
}

for (const [name, provider] of Object.entries(PROVIDERS)) {
  test(`F49 ${name}: its access tokens are accepted with the recipe, and what else it issues is not`, async (t) => {
    const { gateway, authenticator, token } = await tryRecipe(t, name, provider);
    const { claims, header } = provider.variant ?? {};
    for (const good of [token(), token(claims, header)]) {
      const principal = await authenticator.authenticate(sent(good));
      const { clientId, scopes, groups } = principal;
      assert.deepEqual({ clientId, scopes, groups }, provider.expected);
      const policy = createAccessPolicy({ hasAuth: true, access: gateway.access });
      assert.equal(policy.accessOf(principal, 'docs').decide('tools', 'search').verdict, 'allowed');
    }
    for (const [what, [changes, reason]] of Object.entries(provider.refused)) {
      assert.equal(await verdict(authenticator, token(changes)), reason, what);
    }
  });
}

test('F50 Entra ID: scopes are asked for by their full names, and met by the short ones in tokens', async (t) => {
  const provider = PROVIDERS['Entra ID'];
  assert.ok(provider !== undefined);
  const { gateway, authenticator, token } = await tryRecipe(t, 'Entra ID', provider);
  const admin = `${gateway.publicUrl}/mcp/admin`;
  const policy = createAccessPolicy({
    hasAuth: true,
    access: {
      ...(gateway.access ?? NO_ACCESS),
      scopes: { 'docs/delete_*': [admin] },
      scopeImplies: { admin: [admin] },
    },
  });
  const decide = async (scp: string) => {
    const principal = await authenticator.authenticate(sent(token({ scp })));
    return policy.accessOf(principal, 'docs').decide('tools', 'delete_page', { arguments: {} });
  };
  const short = await decide('access');
  assert.deepEqual([short.verdict, 'scopes' in short ? short.scopes : []], ['needs-scope', [admin]]);
  assert.equal((await decide('access admin')).verdict, 'allowed');
});

for (const format of ['jwt', 'opaque'] as const) {
  test(`oidc-provider: the recipe runs against a real one, with ${format} tokens`, async (t) => {
    const port = await freePort();
    const publicUrl = `http://127.0.0.1:${port}`;
    const idp = await startAuthorizationServer({
      resources: [`${publicUrl}/mcp`],
      users: { ada: ['eng'], eve: ['visitors'] },
      format,
    });
    t.after(() => idp.close());
    const { gateway: config, ...rest } = await recipe(t, 'oidc-provider', {
      PORTICO_URL: publicUrl,
      IDP_ISSUER: idp.issuer,
      IDP_CLIENT_ID: idp.resourceServer.clientId,
      IDP_CLIENT_SECRET: idp.resourceServer.clientSecret,
    });
    const upstream = await startFaultyHttpServer();
    t.after(() => upstream.close());
    const gateway = await startGateway({
      http: { url: upstream.url },
      gateway: {
        auth: config.auth,
        access: config.access,
        publicUrl,
        listen: { host: '127.0.0.1', port, tls: undefined },
      },
      secrets: rest.secrets,
    });
    t.after(() => gateway.close());
    const signedIn = async (login: string) => {
      const { access_token } = await signIn(idp, { login, resource: gateway.url });
      return { headers: { authorization: `Bearer ${access_token}` } };
    };
    await using ada = new ModernClient(gateway.url, await signedIn('ada'));
    assert.equal(await ada.tool('echo', { text: 'hello' }), 'hello');
    await using eve = new ModernClient(gateway.url, await signedIn('eve'));
    assert.equal((await eve.ask('tools/call', { name: 'echo' })).error?.code, 4041);
  });
}
