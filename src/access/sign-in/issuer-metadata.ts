// Where an issuer publishes its keys: from its metadata, found as MCP clients find it
// (authorization-server-discovery, "Authorization Server Metadata Discovery").
import type { JsonObject } from '../../protocol/json-text.ts';
import type { FetchJson } from '../../servers/http/fetch-json.ts';

const ISSUER_PARTS = /^([a-z]+:\/\/[^/?#]+)(.*)$/i;

/** RFC 8414 first, then OpenID Connect Discovery; with a path, inserted before it, then appended to it. */
export function metadataUrls(issuer: string): readonly string[] {
  const [, origin = issuer, rest = ''] = ISSUER_PARTS.exec(issuer) ?? [];
  const path = rest.replace(/\/$/, '');
  const inserted = ['oauth-authorization-server', 'openid-configuration'].map(
    (name) => `${origin}/.well-known/${name}${path}`,
  );
  return path === '' ? inserted : [...inserted, `${origin}${path}/.well-known/openid-configuration`];
}

/**
 * @returns the key set's URL
 * @throws Error that says what is wrong with the document
 */
export function jwksUriOf(metadata: JsonObject, issuer: string): string {
  const { issuer: named, jwks_uri: uri } = metadata;
  // Identical, not equivalent (RFC 8414, section 3.3): else one issuer could speak for another.
  if (named !== issuer) {
    throw new Error(`its metadata is that of another issuer, ${JSON.stringify(named)}`);
  }
  if (typeof uri !== 'string' || !URL.canParse(uri)) throw new Error('its metadata names no jwks_uri');
  const isSecure = uri.startsWith('https://') || (uri.startsWith('http://') && issuer.startsWith('http://'));
  if (!isSecure) throw new Error('its jwks_uri is not https');
  return uri;
}

/** @throws Error for the last place that answered wrongly, or did not answer */
export async function discoverJwksUri(
  issuer: string,
  fetchJson: FetchJson,
  signal: AbortSignal,
): Promise<string> {
  let problem = new Error('it publishes no metadata');
  for (const url of metadataUrls(issuer)) {
    try {
      const { status, body } = await fetchJson({ url, signal });
      if (status === 200 && body !== undefined) return jwksUriOf(body, issuer);
      if (status !== 404) problem = new Error(`${url} answered ${status} without metadata`);
    } catch (thrown) {
      signal.throwIfAborted();
      problem = thrown instanceof Error ? thrown : new Error(String(thrown));
    }
  }
  throw problem;
}
