// A person at a browser, without the browser: signs in at an authorization server by code and PKCE, follows every
// redirect, fills in every form.
import { createHash, randomBytes } from 'node:crypto';
import type { AuthorizationServer } from './authorization-server.ts';

export interface SignInRequest {
  readonly login: string;
  /** Any by default. */
  readonly password?: string;
  /** What the token is for; without it the server issues an opaque one for itself. */
  readonly resource?: string;
  readonly scope?: string;
}

export interface Tokens {
  readonly access_token: string;
  readonly id_token?: string;
  readonly refresh_token?: string;
  readonly expires_in?: number;
  readonly scope?: string;
}

const MAX_STEPS = 20;

export async function signIn(
  server: AuthorizationServer,
  { login, password, resource, scope = 'openid offline_access mcp' }: SignInRequest,
): Promise<Tokens> {
  const { clientId, redirectUri } = server.client;
  const verifier = randomBytes(32).toString('base64url');
  const query = new URLSearchParams({
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope,
    // Without it no refresh token is given.
    prompt: 'consent',
    state: 'state',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...(resource === undefined ? {} : { resource }),
  });
  const callback = await browse(server, `${server.issuer}/auth?${query}`, login, password);
  const code = callback.searchParams.get('code');
  if (code === null) throw new Error(`no code came back: ${callback.search}`);
  return askForTokens(server, {
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri,
    code_verifier: verifier,
    ...(resource === undefined ? {} : { resource }),
  });
}

export function refresh(server: AuthorizationServer, tokens: Tokens, resource: string): Promise<Tokens> {
  const { refresh_token = '' } = tokens;
  return askForTokens(server, { grant_type: 'refresh_token', refresh_token, resource });
}

/** A token of the confidential client, on its own behalf. */
export async function clientCredentials(server: AuthorizationServer, resource: string): Promise<Tokens> {
  const { clientId, clientSecret } = server.resourceServer;
  const authorization = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
  return post(
    `${server.issuer}/token`,
    { grant_type: 'client_credentials', resource, scope: 'mcp' },
    authorization,
  );
}

export async function revoke(server: AuthorizationServer, token: string): Promise<void> {
  const body = new URLSearchParams({ token, client_id: server.client.clientId });
  const response = await fetch(`${server.issuer}/token/revocation`, { method: 'POST', body });
  if (!response.ok) throw new Error(`not revoked: ${response.status}`);
}

function askForTokens(server: AuthorizationServer, form: Record<string, string>): Promise<Tokens> {
  return post(`${server.issuer}/token`, { client_id: server.client.clientId, ...form });
}

async function post(url: string, form: Record<string, string>, authorization?: string): Promise<Tokens> {
  const response = await fetch(url, {
    method: 'POST',
    body: new URLSearchParams(form),
    headers: authorization === undefined ? {} : { authorization },
  });
  const answer = (await response.json()) as Tokens & { error?: string };
  if (answer.error !== undefined) throw new Error(`no tokens: ${JSON.stringify(answer)}`);
  return answer;
}

/** @returns where the browser would leave the server for: the client's redirect URI with its answer */
export async function browse(
  server: Pick<AuthorizationServer, 'issuer'>,
  start: string,
  login: string,
  password = 'any',
): Promise<URL> {
  const cookies = new Map<string, string>();
  let url = new URL(start);
  let form: URLSearchParams | undefined;
  for (let step = 0; step < MAX_STEPS; step += 1) {
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form === undefined ? {} : { method: 'POST', body: form }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') cookies.delete(name);
      else cookies.set(name, value);
    }
    const location = response.headers.get('location');
    const page = await response.text();
    if (location === null) {
      const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1];
      if (prompt === undefined) throw new Error(`an unexpected page (${response.status}): ${page}`);
      const alert = /role="alert">([^<]*)/.exec(page)?.[1];
      if (alert !== undefined) throw new Error(alert);
      form = new URLSearchParams({ prompt, login, password });
      continue;
    }
    form = undefined;
    url = new URL(location, url);
    if (url.origin !== server.issuer) return url;
  }
  throw new Error('the sign-in goes in circles');
}
