// The open subscriptions of modern clients, and what Portico itself has to say on them: that lists may have changed
// because the config did, and that a subscription is over because the servers of its view are others now.

import type { CallOutput } from '../bridge/call-output.ts';
import { announcedChange } from '../bridge/listening/heard-messages.ts';
import { META } from '../protocol/era.ts';
import { isJsonObject, type JsonObject, type JsonValue, readJson } from '../protocol/json-text.ts';
import { LIST_CHANGES } from '../protocol/list-changes.ts';
import { Stop, type StopSignal } from '../runtime/stop.ts';
import type { ViewChange } from './view-change.ts';

export interface OpenListen {
  /** To be used in place of the output that it was made of. */
  readonly output: CallOutput;
  /** Aborts when its view has other servers. */
  readonly over: StopSignal;
  close(): void;
}

interface Entry {
  readonly view: string | undefined;
  readonly over: Stop;
  announce(): void;
}

export class OpenListens {
  readonly #open = new Set<Entry>();

  get size(): number {
    return this.#open.size;
  }

  /** @param idText the id of the request, which names the subscription to its client */
  open(view: string | undefined, idText: string, output: CallOutput): OpenListen {
    const over = new Stop();
    const _meta: JsonObject = { [META.subscriptionId]: readJson(idText) as JsonValue };
    let agreed: JsonObject = {};
    const entry: Entry = {
      view,
      over,
      announce() {
        for (const { filter, method } of LIST_CHANGES) {
          if (agreed[filter] === true) void output.send(announcedChange(method, { _meta }));
        }
      },
    };
    this.#open.add(entry);
    return {
      over,
      output: {
        send(message) {
          if ('method' in message && message.method === 'notifications/subscriptions/acknowledged') {
            const filter = message.params?.notifications;
            agreed = isJsonObject(filter) ? filter : {};
          }
          return output.send(message);
        },
        respond: (...answer) => output.respond(...answer),
        end: () => output.end(),
      },
      close: () => this.#open.delete(entry),
    };
  }

  /** Tells those whom a reload concerns. */
  reloaded(change: ViewChange): void {
    for (const { view, announce, over } of [...this.#open]) {
      if (!change.concerns(view)) continue;
      announce();
      if (change.hasOtherServers(view)) over.abort();
    }
  }
}
