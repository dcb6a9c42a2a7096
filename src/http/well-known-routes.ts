// The Protected Resource Metadata documents (RFC 9728), one a view: open to everyone and to every page, with or without
// a token, since this is where a client that cannot sign in yet learns how. Says the same of views that do not exist.
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import type { HostPolicy } from '../access/host-policy.ts';
import { isViewName, METADATA_PATH } from '../access/resource-identifiers.ts';
import type { ResourceMetadata } from '../access/resource-metadata.ts';
import { GatewayError } from '../errors.ts';
import { hostProblem } from './check-caller.ts';

export interface WellKnownRoutesOptions {
  /** The path of the public URL, without a trailing slash: `` or `/base`. */
  readonly basePath: string;
  hosts(): HostPolicy;
  /** Undefined where there is nowhere to sign in. */
  metadata(view: string | undefined): ResourceMetadata | undefined;
  /** The answer is the last on its connection. */
  isLastAnswer(): boolean;
}

const METHODS = 'GET, HEAD, OPTIONS';
const OPEN_TO_ALL = ['Access-Control-Allow-Origin', '*'] as const;
const MAX_AGE_SECONDS = 300;

export function registerWellKnownRoutes(app: FastifyInstance, options: WellKnownRoutesOptions): void {
  const { basePath } = options;
  const endpoint = `${METADATA_PATH}${basePath}/mcp`;
  // The root document, and the one of the base path where there is one, describe `/mcp`.
  const paths = [...new Set([METADATA_PATH, METADATA_PATH + basePath]), endpoint, `${endpoint}/:view`];
  for (const path of paths.flatMap((path) => [path, `${path}/`])) {
    app.route({
      method: app.supportedMethods,
      url: path,
      onRequest: [checkRequest(options)],
      handler: (request, reply) => answer(request, reply, options),
    });
  }
}

function checkRequest({ hosts }: WellKnownRoutesOptions): onRequestHookHandler {
  return ({ edge, raw, headers, method }, _reply, done) => {
    edge.headers = OPEN_TO_ALL;
    const problem = hostProblem(raw.url, headers.host, hosts());
    if (problem !== undefined) return done(problem);
    const isKnown = method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
    done(isKnown ? undefined : new GatewayError('http-method', { allow: METHODS }));
  };
}

function answer(request: FastifyRequest, reply: FastifyReply, options: WellKnownRoutesOptions): FastifyReply {
  const { view } = request.params as { view?: string };
  if (view !== undefined && !isViewName(view)) throw new GatewayError('path-unknown');
  const document = options.metadata(view);
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
