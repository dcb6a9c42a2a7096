// A JSON document that is open to everyone and to every page, with or without a token.
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import type { HostPolicy } from '../access/host-policy.ts';
import { GatewayError } from '../errors.ts';
import { hostProblem } from './check-caller.ts';

export interface OpenDocumentOptions {
  /** The path of the public URL, without a trailing slash: `` or `/base`. */
  readonly basePath: string;
  hosts(): HostPolicy;
  /** The answer is the last on its connection. */
  isLastAnswer(): boolean;
}

export interface OpenDocument extends OpenDocumentOptions {
  /** Undefined where there is none; then the path is unknown. */
  document(request: FastifyRequest): object | undefined;
}

const METHODS = 'GET, HEAD, OPTIONS';
const OPEN_TO_ALL = ['Access-Control-Allow-Origin', '*'] as const;
const MAX_AGE_SECONDS = 300;

export function registerOpenDocument(app: FastifyInstance, path: string, options: OpenDocument): void {
  app.route({
    method: app.supportedMethods,
    url: path,
    onRequest: [checkRequest(options)],
    handler: (request, reply) => answer(request, reply, options),
  });
}

function checkRequest({ hosts }: OpenDocument): onRequestHookHandler {
  return ({ edge, raw, headers, method }, _reply, done) => {
    edge.headers = OPEN_TO_ALL;
    const problem = hostProblem(raw.url, headers.host, hosts());
    if (problem !== undefined) return done(problem);
    const isKnown = method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
    done(isKnown ? undefined : new GatewayError('http-method', { allow: METHODS }));
  };
}

function answer(request: FastifyRequest, reply: FastifyReply, options: OpenDocument): FastifyReply {
  const document = options.document(request);
  if (document === undefined) throw new GatewayError('path-unknown');
  reply.headers(Object.fromEntries([OPEN_TO_ALL]));
  if (options.isLastAnswer()) reply.header('Connection', 'close');
  if (request.method === 'OPTIONS') {
    return reply
      .code(204)
      .headers({
        'Access-Control-Allow-Methods': METHODS,
        // The wildcard covers every header but this one.
        'Access-Control-Allow-Headers': '*, Authorization',
        'Access-Control-Max-Age': String(MAX_AGE_SECONDS),
      })
      .send();
  }
  return (
    reply
      .headers({ 'Content-Type': 'application/json', 'Cache-Control': `public, max-age=${MAX_AGE_SECONDS}` })
      // As bytes: to a text Fastify would add a charset, which JSON does not have.
      .send(Buffer.from(JSON.stringify(document)))
  );
}
