// A call that may be parked, with a scripted link below and recorded exchanges above. Ends with the test.
import type { TestContext } from 'node:test';
import type { AttachedExchange, ParkedCall } from '../../src/bridge/parking/parked-call.ts';
import { ParkedCalls, type ParkedLimits } from '../../src/bridge/parking/parked-calls.ts';
import type { JsonRpcId, JsonRpcOutcome } from '../../src/protocol/json-rpc.ts';
import type { JsonObject } from '../../src/protocol/json-text.ts';
import type { ServerMessage } from '../../src/servers/transport.ts';
import { type ScriptedLink, type ScriptedLinkOptions, scriptedLink } from './scripted-link.ts';

export const ELICITING: JsonObject = { elicitation: { form: {} } };
const LIMITS: ParkedLimits = { timeoutMs: 60_000, max: 10, maxPerPrincipal: 10 };

export class RecordedExchange implements AttachedExchange {
  readonly leaving = new AbortController();
  readonly signal = this.leaving.signal;
  readonly sent: ServerMessage[] = [];
  outcome: JsonRpcOutcome | undefined;
  required: { readonly inputRequests: JsonObject; readonly round: number } | undefined;

  send(message: ServerMessage): void {
    this.sent.push(message);
  }

  respond(outcome: JsonRpcOutcome): void {
    this.outcome = outcome;
  }

  requireInput(inputRequests: JsonObject, round: number): void {
    this.required = { inputRequests, round };
  }

  /** The questions that it was given, as `key: message`. */
  get asked(): Record<string, unknown> {
    const requests = Object.entries(this.required?.inputRequests ?? {});
    return Object.fromEntries(
      requests.map(([key, request]) => [key, ((request as JsonObject).params as JsonObject)?.message]),
    );
  }
}

export interface ParkedRig extends ScriptedLink {
  readonly calls: ParkedCalls;
  open(options?: {
    principal?: string;
    fingerprint?: string;
    declared?: JsonObject;
    link?: ScriptedLink;
  }): ParkedCall;
}

export function parkedRig(
  t: TestContext,
  limits: Partial<ParkedLimits> = {},
  linkOptions: ScriptedLinkOptions = {},
): ParkedRig {
  const scripted = scriptedLink(linkOptions);
  const calls = new ParkedCalls({ ...LIMITS, ...limits });
  t.after(() => calls.close());
  return {
    ...scripted,
    calls,
    open: ({ principal = 'ada', fingerprint = 'same', declared = ELICITING, link = scripted } = {}) =>
      calls.open({ principal, fingerprint, declared, link: link.link }),
  };
}

/** A form that the server wants filled in. */
export function question(id: JsonRpcId, message = `question ${id}`) {
  return { jsonrpc: '2.0' as const, id, method: 'elicitation/create', params: { message } };
}

/** Attaches an exchange and waits until it has been told to come back with answers. */
export async function park(call: ParkedCall, ...ids: JsonRpcId[]): Promise<RecordedExchange> {
  const exchange = new RecordedExchange();
  const told = call.attach(exchange);
  for (const id of ids) call.ask(question(id));
  await told;
  return exchange;
}

export const ACCEPTED = { action: 'accept', content: { name: 'Ada' } };
