// The client's own reply as the output of a call: it is told what its caller may hear by then.
import type { ServerAccess } from '../access/rules/server-access.ts';
import type { CallOutput } from '../bridge/call-output.ts';
import { mayHear } from '../bridge/listening/heard-messages.ts';
import type { JsonRpcOutcome, StreamMessage } from '../protocol/json-rpc.ts';
import type { ClientReply, Exchange } from './exchange.ts';
import type { GatewayContext } from './gateway-context.ts';
import { liveAccess } from './live-access.ts';
import type { Visitor } from './view.ts';

/** Most calls are told nothing but their response, and ask for no rights. It may outlive its exchange, and holds none. */
export class HeardReply implements CallOutput {
  readonly #reply: ClientReply;
  readonly #current: GatewayContext['current'];
  readonly #view: Visitor['view'];
  readonly #principal: Visitor['principal'];
  #access: ServerAccess | undefined;

  constructor({ current }: GatewayContext, { reply, view, principal }: Exchange) {
    this.#reply = reply;
    this.#current = current;
    this.#view = view;
    this.#principal = principal;
  }

  send(message: StreamMessage): Promise<void> | undefined {
    this.#access ??= liveAccess({ current: this.#current }, { view: this.#view, principal: this.#principal });
    return mayHear(message, this.#access) ? this.#reply.send(message) : undefined;
  }

  respond(idText: string, outcome: JsonRpcOutcome, status: number): void {
    this.#reply.respond(idText, outcome, { status });
  }

  end(): void {
    this.#reply.end();
  }
}
