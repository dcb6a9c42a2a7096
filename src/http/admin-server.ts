// The admin listener: probes, metrics, status and the console, for the operator and never for clients.
import { randomUUID } from 'node:crypto';
import { type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import type { GatewayConfig } from '../config/config.ts';
import { GatewayError } from '../errors.ts';
import { type Logger, redactionOf } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { adminCallerCheck, adminTokenCheck } from './admin-guard.ts';
import { BROWSER_HEADERS } from './browser-headers.ts';
import { readConsoleFile } from './console-files.ts';
import { answerEarly } from './early-answer.ts';
import { errorResponse } from './error-response.ts';
import { fromFastifyError } from './fastify-error.ts';
import { createHttpListener } from './http-listener.ts';
import { DEFAULT_HTTP_TIMING, type HttpTiming } from './http-timing.ts';

export interface AdminServerOptions {
  readonly config: NonNullable<GatewayConfig['admin']>;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** By path, what the operator may see as JSON: no arguments, no tokens, no session ids. */
  readonly documents: Readonly<Record<`/status${string}`, () => unknown>>;
  /** Counts what has ended and waits for the end of its turn: whoever has its answer finds it in what is told here. */
  catchUp?(): void;
  /** Whether traffic should come here now, and if not, why, in public words. */
  isReady(): { readonly ready: boolean; readonly reason?: string };
  readonly timing?: Partial<HttpTiming>;
}

export interface AdminServer {
  /** @returns the URLs it listens on */
  listen(): Promise<readonly string[]>;
  /** Idempotent. */
  close(): Promise<void>;
}

export async function createAdminServer(options: AdminServerOptions): Promise<AdminServer> {
  const { config, logger, metrics, documents, isReady } = options;
  const timing = { ...DEFAULT_HTTP_TIMING, ...options.timing };
  const app = fastify({
    logger: false,
    genReqId: () => randomUUID(),
    frameworkErrors: (error, request, reply) =>
      refuse(error, request as FastifyRequest, reply as FastifyReply),
  });
  app.setErrorHandler(refuse);
  app.setNotFoundHandler(() => {
    throw new GatewayError('path-unknown');
  });
  app.addHook('onSend', async (_request, reply) => {
    reply.headers({ 'Cache-Control': 'no-store', ...BROWSER_HEADERS });
  });

  app.addHook('onRequest', (_request, _reply, done) => {
    options.catchUp?.();
    done();
  });

  // A kubelet or a load balancer asks by whatever name it knows.
  app.get('/livez', () => ({ status: 'ok' }));
  app.get('/readyz', (_request, reply) => {
    const { ready, reason } = isReady();
    if (!ready) reply.code(503);
    return { status: ready ? 'ready' : 'not ready', ...(reason !== undefined && { reason }) };
  });

  const checkCaller = adminCallerCheck(config);
  app.get('/metrics', { onRequest: checkCaller }, async (_request, reply) => {
    const { contentType, body } = await metrics.expose();
    reply.type(contentType);
    return body;
  });
  const redact = redactionOf(logger);
  for (const [path, document] of Object.entries(documents)) {
    app.get(path, { onRequest: [checkCaller, adminTokenCheck(config)] }, (_request, reply) =>
      reply.type('application/json; charset=utf-8').send(redact(JSON.stringify(document()))),
    );
  }
  // A browser sends no bearer token when it opens a page: the page asks for it, and sends it with what it fetches.
  for (const path of ['/', '/console/:file']) {
    app.get(path, { onRequest: checkCaller }, async ({ params }, reply) => {
      const { type, content } = await readConsoleFile((params as { file?: string }).file);
      return reply.type(type).send(content);
    });
  }
  await app.ready();
  const listener = createHttpListener({ ...config, timing, handler: app.routing });

  function refuse(thrown: unknown, request: FastifyRequest, reply: FastifyReply): void {
    reply.hijack();
    const error = fromFastifyError(thrown);
    if (error.code === 'internal')
      logger.error({ incidentId: request.id, err: error.cause ?? error }, 'internal error');
    const answer = errorResponse(error, { era: 'legacy', idText: undefined, incidentId: request.id });
    const headers = [...answer.headers, ...Object.entries(BROWSER_HEADERS).flat()];
    answerEarly(request.raw, reply.raw, { ...answer, headers }, { timing, closing: listener.stopping });
  }

  return {
    listen: listener.listen,
    async close() {
      await listener.close();
      await app.close();
    },
  };
}
