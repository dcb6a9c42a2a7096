// A modern client that is told to come back with answers, and does.
import type { Members, Message } from './raw-client.ts';
import type { ModernClient, SayOptions } from './raw-session.ts';

export const FORM = { message: 'Your name?', requestedSchema: { type: 'object', properties: {} } };
export const ACCEPTED = { action: 'accept', content: { name: 'Ada' } };

export interface InputRequired {
  readonly requestState: string;
  /** By key. */
  readonly inputRequests: Readonly<Record<string, Message>>;
}

/** What a message demands; fails where it demands nothing. */
export function inputRequiredOf({ result, error }: Message): InputRequired {
  if (result?.resultType !== 'input_required')
    throw new Error(`no input is required: ${JSON.stringify(result ?? error)}`);
  return result as unknown as InputRequired;
}

/** An accepted form for each question. */
export function answersTo({ inputRequests }: InputRequired): Record<string, unknown> {
  return Object.fromEntries(Object.keys(inputRequests).map((key) => [key, ACCEPTED]));
}

/** Calls the tool that asks, with these arguments. */
export async function callAsking(
  client: ModernClient,
  args: Members = {},
  options: SayOptions = {},
): Promise<InputRequired> {
  return inputRequiredOf(await client.ask('tools/call', asking(args), options));
}

/** Comes back with the state, and answers if not told otherwise. */
export function retryParams(
  required: InputRequired,
  args: Members = {},
  inputResponses: Members = answersTo(required),
): Members {
  return { ...asking(args), requestState: required.requestState, inputResponses };
}

export function asking(args: Members = {}): Members {
  return { name: 'ask', arguments: { method: 'elicitation/create', params: FORM, ...args } };
}
