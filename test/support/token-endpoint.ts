// A token endpoint on a real socket: client credentials, and RFC 8693 for tokens of the issuers that it is told of. What
// it issues says for whom, in what scopes; what a test wants instead, it answers.
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';

export interface TokenEndpoint {
  readonly url: string;
  /** Requests so far. */
  readonly asked: { readonly headers: IncomingHttpHeaders; readonly form: URLSearchParams }[];
  /** Tokens so far, in order. */
  readonly issued: string[];
  /** In place of the truth; returns undefined for the truth. */
  answer: ((form: URLSearchParams) => { status: number; body: object | string } | undefined) | undefined;
  expiresIn: number | undefined;
  /** Before it answers. */
  delayMs: number;
  down(): Promise<void>;
  up(): Promise<void>;
}

export const CLIENT = { clientId: 'portico:1', clientSecret: 'secret-of the/client' };

export async function startTokenEndpoint(t: TestContext): Promise<TokenEndpoint> {
  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
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
  const endpoint: TokenEndpoint = {
    url: `http://127.0.0.1:${port}/token`,
    asked: [],
    issued: [],
    answer: undefined,
    expiresIn: 300,
    delayMs: 0,
    down: stop,
    up: () => listen(port),
  };

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const form = new URLSearchParams(await text(request));
    endpoint.asked.push({ headers: request.headers, form });
    if (endpoint.delayMs > 0) await new Promise((resolve) => setTimeout(resolve, endpoint.delayMs));
    const { status, body } = endpoint.answer?.(form) ?? truth(form);
    const headers = status >= 300 && status < 400 ? { Location: 'http://127.0.0.1:1/' } : {};
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  }

  function truth(form: URLSearchParams) {
    const subject = form.get('subject_token');
    const of = subject === null ? 'portico' : `${claimsOf(subject).sub} ${claimsOf(subject).scope}`;
    const token = `upstream.${Buffer.from(of).toString('base64url')}.${endpoint.issued.length + 1}`;
    endpoint.issued.push(token);
    const { expiresIn: expires_in } = endpoint;
    return { status: 200, body: { access_token: token, token_type: 'Bearer', expires_in } };
  }
  return endpoint;
}

/** For whom a token was issued, and in what scopes. */
export function holderOf(token: string): string {
  return Buffer.from(token.split('.')[1] ?? '', 'base64url').toString();
}

export function claimsOf(jwt: string): Readonly<Record<string, unknown>> {
  return JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>;
}
