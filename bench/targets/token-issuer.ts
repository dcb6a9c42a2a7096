// An issuer of access tokens that lives in the benchmark, and a pool of tokens, as many callers would hold.
import { generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface TokenIssuer {
  /** What stands in `gateway.auth.issuers`. */
  readonly config: object;
  readonly tokens: readonly string[];
  close(): void;
}

const AUDIENCE = 'bench';
const KEY_ID = 'bench-1';
const LIFETIME_SECONDS = 3_600;

export async function startTokenIssuer(callers: number): Promise<TokenIssuer> {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const keys = { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: KEY_ID, alg: 'ES256', use: 'sig' }] };
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(keys));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const now = Math.floor(Date.now() / 1_000);
  const segment = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const tokens = Array.from({ length: callers }, (_, index) => {
    const payload = {
      iss: issuer,
      aud: AUDIENCE,
      sub: `caller-${index}`,
      client_id: 'bench-client',
      scope: 'mcp',
      groups: ['eng', 'staff'],
      iat: now,
      exp: now + LIFETIME_SECONDS,
      jti: `token-${index}`,
    };
    const input = `${segment({ typ: 'at+jwt', alg: 'ES256', kid: KEY_ID })}.${segment(payload)}`;
    const signature = sign('sha256', Buffer.from(input), { key: privateKey, dsaEncoding: 'ieee-p1363' });
    return `${input}.${signature.toString('base64url')}`;
  });
  return {
    config: { issuer, jwksUri: `${issuer}/keys`, audiences: [AUDIENCE] },
    tokens,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
