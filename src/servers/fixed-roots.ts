// A fixed list of roots from the config (`client.roots`) is answered by Portico: no client hears of the question.
import type { ServerConfig } from '../config/config.ts';
import type { JsonObject } from '../protocol/json-text.ts';
import type { ServerLink } from './server-link.ts';
import type { ServerMessage } from './transport.ts';

/** The result of `roots/list` where the config fixes it. */
export function fixedRoots({ client: { roots } }: ServerConfig): JsonObject | undefined {
  return typeof roots === 'string' ? undefined : { roots: roots.map((root): JsonObject => ({ ...root })) };
}

/** @returns whether `message` was such a question, and has been answered */
export function answerFixedRoots(message: ServerMessage, link: ServerLink, server: ServerConfig): boolean {
  if (!('id' in message) || message.method !== 'roots/list') return false;
  const result = fixedRoots(server);
  if (result === undefined) return false;
  void link.respond(message.id, { result });
  return true;
}
