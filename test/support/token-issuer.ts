// An issuer of tokens on a real socket whose every answer a test decides: metadata, keys, introspection. Tokens are
// signed with node:crypto, so that what is wrong with one can be exactly what a test wants.
import {
  constants,
  createHmac,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type JsonWebKey,
  type KeyObject,
  sign,
} from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import type { IssuerConfig } from '../../src/config/auth-config.ts';

export type Algorithm = 'RS256' | 'PS256' | 'ES256' | 'EdDSA';

export interface SigningKey {
  readonly kid: string | undefined;
  readonly algorithm: Algorithm;
  readonly privateKey: KeyObject;
  /** The public half, as published. */
  readonly jwk: JsonWebKey & { kid?: string };
}

/** What an endpoint answers in place of the truth. */
export type Trouble =
  | 'none'
  | 'html'
  | 'error'
  | 'empty'
  | 'no keys'
  | 'redirect'
  | 'endless'
  | 'silent'
  | 'cut';

export interface TokenIssuer {
  readonly issuer: string;
  /** Requests so far, by what they asked for. */
  readonly asked: { metadata: number; keys: number; introspection: number };
  /** Published keys. */
  keys: SigningKey[];
  keysTrouble: Trouble;
  introspectionTrouble: Trouble;
  /** In place of the metadata document; undefined answers 404. */
  metadata: (() => unknown) | undefined;
  /** What introspection says of a token; inactive by default. */
  introspect: (token: string) => unknown;
  /** The last request for introspection. */
  readonly introspected: { authorization: string | undefined; form: URLSearchParams } | undefined;
  /** Resolves at the next request for keys. */
  nextKeysRequest(): Promise<void>;
  /** As it stands in `gateway.auth.issuers`. */
  config(changes?: Partial<IssuerConfig>): IssuerConfig;
  /** Refuses connections until `up`. */
  down(): Promise<void>;
  up(): Promise<void>;
}

export function signingKey(algorithm: Algorithm, kid?: string): SigningKey {
  const { privateKey } = KEY_MAKERS[algorithm]();
  return publishedAs(privateKey, algorithm, kid);
}

function publishedAs(privateKey: KeyObject, algorithm: Algorithm, kid?: string): SigningKey {
  const jwk = createPublicKey(privateKey).export({ format: 'jwk' });
  return {
    kid,
    algorithm,
    privateKey,
    jwk: { ...jwk, ...(kid === undefined ? {} : { kid }), alg: algorithm, use: 'sig' },
  };
}

const KEY_MAKERS: Readonly<Record<Algorithm, () => { privateKey: KeyObject }>> = {
  RS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  PS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  EdDSA: () => generateKeyPairSync('ed25519'),
};

/** A JWT of any header and payload; texts go in as they are, so that they need not be JSON. */
export function signToken(key: SigningKey, header: object | string, payload: object | string): string {
  const input = [header, payload].map(segment).join('.');
  return `${input}.${signature(key, Buffer.from(input)).toString('base64url')}`;
}

/** The same, with a shared secret. */
export function hmacToken(secret: string | Buffer, header: object, payload: object): string {
  const input = [header, payload].map(segment).join('.');
  return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
}

function segment(part: object | string): string {
  return Buffer.from(typeof part === 'string' ? part : JSON.stringify(part)).toString('base64url');
}

function signature({ algorithm, privateKey }: SigningKey, input: Buffer): Buffer {
  if (algorithm === 'EdDSA') return sign(null, input, privateKey);
  if (algorithm === 'ES256') return sign('sha256', input, { key: privateKey, dsaEncoding: 'ieee-p1363' });
  if (algorithm === 'RS256') return sign('sha256', input, privateKey);
  return sign('sha256', input, { key: privateKey, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 });
}

/** An RSA key that is too short for anything. */
export function shortRsaKey(kid: string): SigningKey {
  return publishedAs(generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey, 'RS256', kid);
}

export function pemOf({ privateKey }: SigningKey): string {
  return createPublicKey(createPrivateKey(privateKey.export({ format: 'pem', type: 'pkcs8' })))
    .export({ format: 'pem', type: 'spki' })
    .toString();
}

/** @param path of the issuer, as in `/tenant` */
export async function startTokenIssuer(t: TestContext, path = ''): Promise<TokenIssuer> {
  const keysAsked = new EventTarget();
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  const stop = async () => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
  await listen(0);
  t.after(stop);
  const { port } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;

  const issuer = {
    issuer: origin + path,
    asked: { metadata: 0, keys: 0, introspection: 0 },
    keys: [] as SigningKey[],
    keysTrouble: 'none' as Trouble,
    introspectionTrouble: 'none' as Trouble,
    metadata: (() => ({ issuer: origin + path, jwks_uri: `${origin}/keys` })) as TokenIssuer['metadata'],
    introspect: (_token: string): unknown => ({ active: false }),
    introspected: undefined as TokenIssuer['introspected'],
    nextKeysRequest: () => once(keysAsked, 'asked').then(() => {}),
    config: (changes: Partial<IssuerConfig> = {}): IssuerConfig => ({
      issuer: origin + path,
      audiences: [],
      jwksUri: undefined,
      algorithms: ['RS256', 'PS256', 'ES256', 'EdDSA'],
      claims: { groups: 'groups', scopes: 'scope' },
      introspection: undefined,
      ...changes,
    }),
    down: stop,
    up: () => listen(port),
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '/', origin);
    if (pathname === '/keys') {
      issuer.asked.keys += 1;
      keysAsked.dispatchEvent(new Event('asked'));
      return send(response, issuer.keysTrouble, { keys: issuer.keys.map(({ jwk }) => jwk) });
    }
    if (pathname === '/introspect') {
      issuer.asked.introspection += 1;
      const form = new URLSearchParams(await text(request));
      issuer.introspected = { authorization: request.headers.authorization, form };
      return send(response, issuer.introspectionTrouble, issuer.introspect(form.get('token') ?? ''));
    }
    if (pathname === `/.well-known/oauth-authorization-server${path}` && issuer.metadata !== undefined) {
      issuer.asked.metadata += 1;
      return send(response, 'none', issuer.metadata());
    }
    response.writeHead(404).end();
  }
  return issuer;
}

function send(response: ServerResponse, trouble: Trouble, truth: unknown): void {
  const json = { 'Content-Type': 'application/json' };
  switch (trouble) {
    case 'none':
      response.writeHead(200, json).end(JSON.stringify(truth));
      break;
    case 'html':
      response.writeHead(200, { 'Content-Type': 'text/html' }).end('<h1>Bad gateway</h1>');
      break;
    case 'error':
      response.writeHead(500, json).end('{"error":"server_error"}');
      break;
    case 'empty':
      response.writeHead(200, json).end();
      break;
    case 'no keys':
      response.writeHead(200, json).end('{"keys":[]}');
      break;
    case 'redirect':
      response.writeHead(302, { Location: 'http://127.0.0.1:1/keys' }).end();
      break;
    case 'endless':
      response.writeHead(200, json).end(`{"keys":[${' '.repeat(1024 * 1024)}]}`);
      break;
    case 'cut':
      response.destroy();
      break;
    case 'silent':
  }
}
