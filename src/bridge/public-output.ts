// An output to a client of a view of several servers: what one of them says goes out in the view's words.
import {
  publishError,
  publishNotification,
  publishQuestion,
  publishResult,
  type ViewNames,
} from '../federation/public-messages.ts';
import type { JsonRpcOutcome, StreamMessage } from '../protocol/json-rpc.ts';
import type { CallOutput } from './call-output.ts';

/** @param method of the request that is answered */
export function publicOutput(output: CallOutput, method: string, names: ViewNames): CallOutput {
  return {
    send: (message) => output.send(publicMessage(message, names)),
    respond: (idText, outcome, status) =>
      output.respond(idText, publicOutcome(method, outcome, names), status),
    end: () => output.end(),
  };
}

/** A notification or a question of the server. */
export function publicMessage<T extends StreamMessage>(message: T, names: ViewNames): T {
  if (!('method' in message)) return message;
  const { method, params } = message;
  const told =
    'id' in message ? publishQuestion(method, params, names) : publishNotification(method, params, names);
  return told === undefined || told === params ? message : { ...message, params: told };
}

function publicOutcome(method: string, outcome: JsonRpcOutcome, names: ViewNames): JsonRpcOutcome {
  if ('error' in outcome) return { error: publishError(outcome.error, names) };
  return { result: publishResult(method, outcome.result, names) };
}
