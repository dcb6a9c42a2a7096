// A legacy client's request to a modern server that needs input: the questions go out as real requests on the call's
// own stream, the request is sent again with their answers, until the server is content.
import { randomUUID } from 'node:crypto';
import { GatewayError } from '../../errors.ts';
import { ownAnswer, publishQuestion } from '../../federation/public-messages.ts';
import type { JsonRpcErrorObject, JsonRpcOutcome } from '../../protocol/json-rpc.ts';
import type { JsonObject } from '../../protocol/json-text.ts';
import { eitherOf, Stop, type StopSignal } from '../../runtime/stop.ts';
import { startDeadline } from '../../servers/call-deadline.ts';
import { fixedRoots } from '../../servers/fixed-roots.ts';
import { delayUnlessAborted } from '../../servers/within-time.ts';
import type { CarriedCall } from '../carried-call.ts';
import { crossedCapabilities } from '../client-features.ts';
import { MAX_QUESTIONS, tooManyQuestions } from '../question-limits.ts';
import {
  isInputRequired,
  legacyQuestion,
  MAX_ROUNDS,
  type Question,
  questionsOf,
  requireDeclared,
} from './input-required.ts';
import { questionIn } from './legacy-content.ts';

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5_000;

export async function carryWithRounds(carried: CarriedCall): Promise<'ok' | 'error'> {
  const { server, signal } = carried.call;
  const { maxCallTimeMs } = server.config;
  // One clock over all rounds, people's time included.
  const overall = startDeadline({ callTimeoutMs: maxCallTimeMs, maxCallTimeMs }, signal);
  try {
    let params = carried.params();
    for (let round = 0; round <= MAX_ROUNDS; round += 1) {
      const outcome = await carried.send(params, { signal: overall.signal });
      if ('error' in outcome || !isInputRequired(outcome.result)) return carried.respond(outcome);
      const answered = await answer(carried, outcome.result, { round, signal: overall.signal });
      if ('error' in answered) return carried.respond(answered);
      params = { ...carried.params(), ...answered.members };
    }
  } finally {
    overall.stop();
  }
  throw new GatewayError('server-unavailable', {
    reason: 'too-many-rounds',
    text: 'The server asked for input too many times',
  });
}

/** The members that the next request gains, or the error that ends the call. */
async function answer(
  carried: CarriedCall,
  result: JsonObject,
  { round, signal }: { round: number; signal: StopSignal },
): Promise<{ members: JsonObject } | { error: JsonRpcErrorObject }> {
  const { client, server } = carried.call;
  requireDeclared(result, crossedCapabilities(client.capabilities, server.config.client));
  const members: JsonObject =
    typeof result.requestState === 'string' ? { requestState: result.requestState } : {};
  const questions = questionsOf(result);
  if (questions.size > MAX_QUESTIONS) throw tooManyQuestions();
  if (questions.size === 0) {
    await delayUnlessAborted(Math.min(FIRST_PAUSE_MS * 2 ** round, MAX_PAUSE_MS), signal);
    return { members };
  }
  // One failing question takes the others back.
  const together = new Stop();
  const both = eitherOf(signal, together);
  try {
    const answers = await Promise.all(
      [...questions].map(async ([key, question]) => [key, await askOne(carried, question, both)] as const),
    );
    return { members: { ...members, inputResponses: Object.fromEntries(answers) } };
  } catch (thrown) {
    if (thrown instanceof ClientRefused) return { error: thrown.error };
    throw thrown;
  } finally {
    together.abort();
  }
}

/** The client answered a question that the call cannot do without, with an error. */
class ClientRefused extends Error {
  readonly error: JsonRpcErrorObject;

  constructor(error: JsonRpcErrorObject) {
    super(error.message);
    this.error = error;
  }
}

async function askOne(carried: CarriedCall, question: Question, signal: StopSignal): Promise<JsonObject> {
  const { client, server, sessionCall } = carried.call;
  const roots = question.method === 'roots/list' ? fixedRoots(server.config) : undefined;
  if (roots !== undefined) return roots;
  if (client.session === undefined || sessionCall === undefined) {
    throw new GatewayError('server-unavailable', { reason: 'undeclared-question' });
  }
  const { method } = question;
  const asked = questionIn(client.version, { method, params: legacyQuestion(question, randomUUID()) });
  if (asked === undefined) {
    throw new GatewayError('server-unavailable', {
      reason: 'question-too-new',
      text: "The server asks for something that the client's protocol revision has no words for",
    });
  }
  const names = client.session.namesOf(server.slug);
  const params = names === undefined ? asked.params : publishQuestion(method, asked.params, names);
  const outcome = await client.session.questions.askAndWait(method, params, {
    stream: sessionCall.stream,
    signal,
  });
  const result = asked.readResult(resultOf(method, outcome));
  return names === undefined ? result : ownAnswer(result, names);
}

function resultOf(method: string, outcome: JsonRpcOutcome): JsonObject {
  if ('result' in outcome) return outcome.result;
  if (method === 'elicitation/create') return { action: 'cancel' };
  throw new ClientRefused(outcome.error);
}
