// The ids of a legacy server's tasks in what it says to a session outside any call, and in what the client says back:
// the client knows them sealed, as they stand in results.
import { GatewayError } from '../../errors.ts';
import type { JsonRpcOutcome } from '../../protocol/json-rpc.ts';
import type { JsonObject } from '../../protocol/json-text.ts';
import type { ServerMessage } from '../../servers/transport.ts';
import { SealedFields } from '../seals/sealed-fields.ts';
import type { SealedState } from '../seals/sealed-state.ts';

export class SessionTasks {
  readonly #sealing: SealedFields;

  constructor(state: SealedState, owner: { readonly principal: string; readonly server: string }) {
    this.#sealing = new SealedFields({ state, ...owner, generation: '', method: '', params: undefined });
  }

  toClient<T extends ServerMessage>(message: T): T {
    if (message.params === undefined) return message;
    // What a question says of a task is about one that the client runs; only `related-task` names the server's.
    const isQuestion = 'id' in message;
    const { params } = message;
    return {
      ...message,
      params: isQuestion ? this.#sealing.sealQuestion(params) : this.#sealing.sealMessage(params),
    };
  }

  /** An id that was not given to this client stays as it is: the server knows none such. */
  fromClient(outcome: JsonRpcOutcome): JsonRpcOutcome {
    return 'result' in outcome ? { result: this.opened(outcome.result) } : outcome;
  }

  opened(holder: JsonObject): JsonObject {
    try {
      return this.#sealing.openRelated(holder);
    } catch (thrown) {
      if (thrown instanceof GatewayError) return holder;
      throw thrown;
    }
  }
}
