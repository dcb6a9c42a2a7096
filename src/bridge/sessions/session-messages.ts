// What a server says to one legacy session of its own accord: questions for the client, and notifications that name
// no call. Only the session's own link may do either.

import type { ServerConfig } from '../../config/config.ts';
import { ownAnswer } from '../../federation/public-messages.ts';
import type { ClientNotification } from '../../protocol/client-message.ts';
import { INVALID_PARAMS, METHOD_NOT_FOUND } from '../../protocol/error-codes.ts';
import { type JsonRpcRequest, readId } from '../../protocol/json-rpc.ts';
import type { JsonObject } from '../../protocol/json-text.ts';
import { answerFixedRoots } from '../../servers/fixed-roots.ts';
import type { Server } from '../../servers/server.ts';
import type { ServerLink } from '../../servers/server-link.ts';
import type { ServerMessage } from '../../servers/transport.ts';
import { sessionLinkKey } from '../choose-link.ts';
import { declaredCapabilities, missingCapability } from '../client-features.ts';
import { questionIn } from '../crossings/legacy-content.ts';
import { relatedTask } from '../crossings/related-task.ts';
import { publicMessage } from '../public-output.ts';
import type { LegacySession } from './legacy-session.ts';
import type { EventStream } from './session-streams.ts';

/** Questions about tasks that the client runs for the server (2025-11-25, basic/utilities/tasks). */
const TASK_QUESTIONS = new Set(['tasks/get', 'tasks/result', 'tasks/list', 'tasks/cancel']);

/** Hands on a message of the session's own link. `stream` is the call's that the wire ties it to, if it does. */
export function relayToSession(
  session: LegacySession,
  message: ServerMessage,
  { link, server, stream }: { link: ServerLink; server: ServerConfig; stream: EventStream | undefined },
): void {
  if ('id' in message) {
    relayQuestion(session, message, { link, server, stream });
  } else if (message.method === 'notifications/cancelled') {
    session.withdraw(message, link);
  } else {
    session.deliver(server.slug, session.tasksOf(server.slug).toClient(message));
  }
}

/**
 * A notification of the client: about its own calls it is heeded here, the rest is for the session's own links. On a
 * view of several servers, who is told of progress is who waits for an answer and gave its token.
 */
export function relayClientNotification(
  session: LegacySession,
  message: ClientNotification,
  servers: readonly Server[],
): void {
  if (message.method === 'notifications/initialized') {
    session.initialized = true;
  } else if (message.method === 'notifications/cancelled') {
    const { requestId, reason } = message.params ?? {};
    const id = readId(requestId);
    if (id !== undefined) session.cancel(id.idText, typeof reason === 'string' ? reason : undefined);
  } else {
    for (const server of servers) relayToServer(session, message, server);
  }
}

function relayToServer(session: LegacySession, { method, params }: ClientNotification, server: Server): void {
  const link = server.peekOwnLink(sessionLinkKey(session));
  const isRoots = method === 'notifications/roots/list_changed';
  // A modern server knows no notifications of clients.
  if (link?.peer.era !== 'legacy' || (isRoots && server.config.client.roots !== 'allow')) return;
  const isOneOfSeveral = session.viewServers !== undefined;
  if (isOneOfSeveral && !isRoots) {
    const isWanted = session.questions.wantsProgress(link, params?.progressToken);
    if (method !== 'notifications/progress' || !isWanted) return;
  }
  // Should it not arrive, the server is down or refuses us, which the next request shows.
  const opened = params === undefined ? {} : { params: session.tasksOf(server.slug).opened(params) };
  link.notify({ jsonrpc: '2.0', method, ...opened }).catch(() => {});
}

function relayQuestion(
  session: LegacySession,
  question: JsonRpcRequest,
  { link, server, stream }: { link: ServerLink; server: ServerConfig; stream: EventStream | undefined },
): void {
  if (answerFixedRoots(question, link, server)) return;
  const { clientCapabilities, version } = session.record;
  const declared = declaredCapabilities(clientCapabilities, server.client, { fixedRoots: true });
  const possible = TASK_QUESTIONS.has(question.method)
    ? declared.tasks !== undefined
    : missingCapability(question, declared) === undefined;
  const refuse = (message: string, code = METHOD_NOT_FOUND) => {
    void link.respond(question.id, { error: { code, message } });
  };
  if (!possible) {
    refuse(`The client did not declare what ${question.method} needs`);
    return;
  }
  const asked = questionIn(version, question);
  if (asked === undefined) {
    refuse(`The client's protocol revision, ${version}, has no words for this question`, INVALID_PARAMS);
    return;
  }
  const { params, readResult } = asked;
  const tasks = session.tasksOf(server.slug);
  const names = session.namesOf(server.slug);
  const known = tasks.toClient(params === undefined ? question : { ...question, params });
  const told = {
    request: names === undefined ? known : publicMessage(known, names),
    server: server.slug,
    task: relatedTask(question),
    readResult(result: JsonObject) {
      const own = names === undefined ? result : ownAnswer(result, names);
      return tasks.opened(readResult(own));
    },
  };
  session.ask(told, link, { stream, refuse });
}
