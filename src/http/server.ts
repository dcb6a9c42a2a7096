// The public listener: what MCP clients connect to.
import { randomUUID } from 'node:crypto';
import { type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import { splitPublicUrl } from '../access/sign-in/resource-identifiers.ts';
import { type FailureCode, GatewayError } from '../errors.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { eraOfHeader, headerValue } from '../protocol/client-message.ts';
import { VERSION_HEADER } from '../protocol/request-headers.ts';
import { Roster } from '../runtime/roster.ts';
import { BufferBudget } from '../state/buffer-budget.ts';
import type { ExchangeRecord } from '../telemetry/exchange-record.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { HttpReply } from './client-reply.ts';
import { answerEarly } from './early-answer.ts';
import { newEdgeContext } from './edge-context.ts';
import { type EdgeSettings, edgeParts } from './edge-parts.ts';
import { errorResponse } from './error-response.ts';
import { fromFastifyError } from './fastify-error.ts';
import { createHttpListener } from './http-listener.ts';
import { DEFAULT_HTTP_TIMING, type HttpTiming } from './http-timing.ts';
import { createIpGuards } from './ip-guard.ts';
import { registerJwksRoute } from './jwks-route.ts';
import { KeepAliveComments } from './keep-alive-comments.ts';
import { registerMcpRoute } from './mcp-route.ts';
import { reportFailure } from './report-failure.ts';
import { challengeFor } from './sign-in.ts';
import { registerWellKnownRoutes } from './well-known-routes.ts';

export interface PublicServerOptions extends EdgeSettings {
  readonly logger: Logger;
  /** Carries one exchange to its answer. What it throws is told to the client as a failure. */
  handleExchange(exchange: Exchange): Promise<void>;
  /** Once for each exchange, at the last byte of its answer. */
  onSettled(record: ExchangeRecord): void;
  /** Once for each request that ended before it became an exchange. */
  onRefused?(code: FailureCode): void;
  /** True while answers should ask clients to connect anew, elsewhere; requests are still served. */
  isDraining?(): boolean;
  readonly timing?: Partial<HttpTiming>;
  /** Shared with all else that holds bytes; without it, one of its own. */
  readonly budget?: BufferBudget;
}

export interface PublicServer {
  /** @returns the URLs it listens on */
  listen(): Promise<readonly string[]>;
  /** What holds for requests from now on; where it listens and under which URL stays as it is. */
  apply(settings: EdgeSettings): void;
  /**
   * The listening socket and idle connections close; every answer from here on is the last on its connection; a
   * request that still comes on an old one is told 503. Idempotent.
   */
  stopAccepting(): void;
  /** Stops accepting, gives last bytes a moment, then cuts what is open. Idempotent. */
  close(): Promise<void>;
  /** Requests whose answer is not complete yet, and those of them that are event streams. */
  readonly openReplies: number;
  readonly openStreams: number;
  /** Of request bodies, and of answers that clients have not read. */
  readonly bufferedBytes: number;
}

export async function createPublicServer(options: PublicServerOptions): Promise<PublicServer> {
  const { config, logger, handleExchange, onSettled } = options;
  const timing = { ...DEFAULT_HTTP_TIMING, ...options.timing };
  const budget = options.budget ?? new BufferBudget(config.maxBufferedBytes);
  const keepAlive = new KeepAliveComments(timing.keepAliveCommentMs);
  const openReplies = new Roster<HttpReply>();
  const isStopping = () => listener.stopping;
  const isLastAnswer = () => listener.stopping || (options.isDraining?.() ?? false);

  const app = fastify({
    logger: false,
    genReqId: () => randomUUID(),
    exposeHeadRoutes: false,
    trustProxy: (address) => parts.isTrustedProxy(address),
    frameworkErrors: (error, request, reply) =>
      refuse(error, request as FastifyRequest, reply as FastifyReply),
  });
  app.decorateRequest('edge');
  app.addHook('onRequest', (request, reply, done) => {
    request.edge = newEdgeContext(request, reply);
    done();
  });
  app.setErrorHandler(refuse);
  const ipGuards = await createIpGuards(app);
  let parts = edgeParts(options, ipGuards);
  app.setNotFoundHandler((request) => {
    parts.checkCaller(request);
    throw new GatewayError('path-unknown');
  });
  const { basePath } = splitPublicUrl(config.publicUrl);
  registerMcpRoute(app, {
    basePath,
    timing,
    budget,
    keepAlive,
    parts: () => parts,
    isStopping,
    isLastAnswer,
    refuse,
    handleExchange,
    onSettled,
    onFailure: (error, record) => reportFailure(logger, error, record),
    openReplies,
  });
  registerWellKnownRoutes(app, {
    basePath,
    hosts: () => parts.hosts,
    metadata: (view) => parts.signIn?.metadata(view),
    isLastAnswer,
  });
  registerJwksRoute(app, {
    basePath,
    hosts: () => parts.hosts,
    keys: () => parts.identityKeys?.published,
    isLastAnswer,
  });
  await app.ready();

  const listener = createHttpListener({
    ...config.listen,
    timing,
    handler: app.routing,
    onBroken: (code) => options.onRefused?.(code),
    onProblem: (error) => logger.warn({ err: error }, 'a connection could not be accepted'),
  });

  /** The one place where a request ends that became no exchange. */
  function refuse(thrown: unknown, request: FastifyRequest, reply: FastifyReply): void {
    reply.hijack();
    const error = fromFastifyError(thrown);
    // Undefined where the framework refuses a URL before it looks at anything else.
    const edge = request.edge ?? newEdgeContext(request, reply);
    edge.record.address = edge.arrival.address;
    if (edge.isExchange) edge.record.outcome ??= error.code;
    else options.onRefused?.(error.code);
    reportFailure(logger, error, edge.record);
    const { status, headers, body } = errorResponse(error, {
      era: eraOfHeader(headerValue(request.headers, VERSION_HEADER)) ?? 'legacy',
      idText: undefined,
      incidentId: request.id,
      challenge: challengeFor(parts.signIn, edge.record.view),
    });
    const answer = { status, headers: [...edge.headers, ...headers], body };
    answerEarly(request.raw, reply.raw, answer, { timing, closing: isLastAnswer() });
  }

  return {
    listen: listener.listen,
    apply(settings) {
      parts = edgeParts(settings, ipGuards);
      budget.maxBytes = settings.config.maxBufferedBytes;
    },
    stopAccepting: listener.stopAccepting,
    async close() {
      listener.stopAccepting();
      for (const reply of openReplies) endReply(reply);
      await listener.close();
      await app.close();
    },
    get openReplies() {
      return openReplies.size;
    },
    get openStreams() {
      return keepAlive.size;
    },
    get bufferedBytes() {
      return budget.usedBytes;
    },
  };
}

/** What is still open at the very end; who knew its id had the chance to answer. */
function endReply(reply: HttpReply): void {
  if (reply.committed) reply.end();
  else reply.fail(new GatewayError('draining'), undefined, 'legacy');
}
