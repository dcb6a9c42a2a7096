// One request for a token (RFC 6749, section 5) and what its answer means. No redirect is followed: it would carry the
// secret along.
import type { TokenEndpointConfig } from '../../config/server-auth-config.ts';
import type { FetchJson, JsonAnswer } from '../http/fetch-json.ts';
import { type Credential, CredentialFailure } from './credential.ts';
import { foreignWords } from './foreign-words.ts';

export interface TokenRequest {
  readonly endpoint: TokenEndpointConfig;
  /** The grant's own parameters. */
  readonly grant: Readonly<Record<string, string>>;
  readonly fetchJson: FetchJson;
  now(): number;
}

/** For endpoints that do not say how long a token is good for. */
const UNSTATED_LIFETIME_MS = 60_000;
const TIMEOUT_MS = 10_000;
const MAX_TOKEN_CHARACTERS = 16 * 1024;
const SENDABLE = /^[\x21-\x7e]+$/;

/**
 * Many may wait for it, so no caller ends it: it has a time of its own.
 *
 * @throws CredentialFailure
 */
export async function requestToken({ endpoint, grant, fetchJson, now }: TokenRequest): Promise<Credential> {
  const askedAtMs = now();
  const { headers, form } = clientAuthentication(endpoint);
  const { tokenUrl, scopes, resource, audience } = endpoint;
  const answer = await fetchJson({
    url: tokenUrl,
    headers,
    form: {
      ...grant,
      ...(scopes.length === 0 ? {} : { scope: scopes.join(' ') }),
      ...(resource === undefined ? {} : { resource }),
      ...(audience === undefined ? {} : { audience }),
      ...form,
    },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch((thrown: unknown) => {
    const words = thrown instanceof Error ? thrown.message : String(thrown);
    throw new CredentialFailure('endpoint-unavailable', `the token endpoint cannot be asked: ${words}`);
  });
  return readToken(answer, askedAtMs);
}

function readToken({ status, body = {} }: JsonAnswer, askedAtMs: number): Credential {
  if (status !== 200) throw refusal(status, body);
  const { access_token: token, token_type: type, expires_in: seconds } = body;
  const isToken = typeof token === 'string' && token.length <= MAX_TOKEN_CHARACTERS && SENDABLE.test(token);
  if (!isToken) throw new CredentialFailure('endpoint-answer', 'the token endpoint answered without a token');
  if (typeof type !== 'string' || type.toLowerCase() !== 'bearer') {
    // Bound to a key, or none at all (RFC 8693, section 2.2.1): not ours to show.
    const words = `the token is none that is shown as a bearer token, but ${foreignWords(type) || 'of no type'}`;
    throw new CredentialFailure('endpoint-answer', words);
  }
  const stated = typeof seconds === 'number' || typeof seconds === 'string' ? Number(seconds) : Number.NaN;
  const lifetimeMs = Number.isFinite(stated) && stated >= 0 ? stated * 1_000 : UNSTATED_LIFETIME_MS;
  return { token, expiresAtMs: askedAtMs + lifetimeMs };
}

function refusal(status: number, body: Readonly<Record<string, unknown>>): CredentialFailure {
  const words = foreignWords(body.error, body.error_description);
  if (status >= 400 && status < 500 && status !== 408 && status !== 429) {
    const said = words === '' ? `status ${status}` : words;
    return new CredentialFailure('endpoint-refused', `the token endpoint refused: ${said}`);
  }
  const why = status >= 300 && status < 400 ? ', a redirect, which is not followed' : '';
  return new CredentialFailure('endpoint-unavailable', `the token endpoint answered ${status}${why}`);
}

/** RFC 6749, section 2.3.1: as HTTP Basic, each part form-encoded first; or in the form. */
function clientAuthentication({ clientId, clientSecret, clientAuth }: TokenEndpointConfig) {
  if (clientSecret === undefined) return { headers: {}, form: { client_id: clientId } };
  if (clientAuth === 'post') {
    return { headers: {}, form: { client_id: clientId, client_secret: clientSecret } };
  }
  const [id, secret] = [clientId, clientSecret].map((part) =>
    new URLSearchParams({ '': part }).toString().slice(1),
  );
  const authorization = `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
  return { headers: { authorization }, form: {} };
}
