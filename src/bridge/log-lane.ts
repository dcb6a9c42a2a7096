// Log messages on a modern child's pipe name no request. On a link that several principals share, one request at a
// time may therefore ask for them: what comes while it runs is its own, and nobody reads another's log.
import type { Server } from '../servers/server.ts';
import type { ServerLink } from '../servers/server-link.ts';
import type { ServerMessage } from '../servers/transport.ts';

interface Holder {
  readonly principal: string;
  deliver(message: ServerMessage): void;
}

interface Lane {
  holder: Holder | undefined;
  /** A call of this principal was given up without an answer, and may go on talking. */
  haunter: string | undefined;
}

export class LogLanes {
  readonly #lanes = new WeakMap<ServerLink, Lane>();

  /** Hears what a server's shared link says of its own accord. */
  follow(server: Server): void {
    server.onSharedMessage((message, link) => this.receive(message, link));
  }

  /** A message of a modern server that its wire ties to no call. */
  receive(message: ServerMessage, link: ServerLink): void {
    if (message.method === 'notifications/message') this.#lanes.get(link)?.holder?.deliver(message);
  }

  /**
   * Takes the lane of a link for one request. Undefined while it is taken, or while a call of another principal that
   * was given up may still talk: the request then goes without a log level.
   */
  take(link: ServerLink, holder: Holder): LaneHold | undefined {
    const lane = this.#lanes.get(link) ?? { holder: undefined, haunter: undefined };
    this.#lanes.set(link, lane);
    if (lane.holder !== undefined) return undefined;
    if (lane.haunter !== undefined && lane.haunter !== holder.principal) return undefined;
    lane.holder = holder;
    return {
      release(answered) {
        if (lane.holder !== holder) return;
        lane.holder = undefined;
        if (!answered) lane.haunter = holder.principal;
      },
    };
  }
}

export interface LaneHold {
  /** @param answered whether the server has said its last word on the request */
  release(answered: boolean): void;
}
