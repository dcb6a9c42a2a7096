// Log messages on a modern child's pipe name no request. On a link that several principals share, one request at a
// time may therefore ask for them: what comes while it runs is its own, and nobody reads another's log.
import type { Server } from '../../servers/server.ts';
import type { ServerLink } from '../../servers/server-link.ts';
import type { ServerMessage } from '../../servers/transport.ts';

interface Holder {
  readonly principal: string;
  deliver(message: ServerMessage): void;
}

interface Lane {
  holder: Holder | undefined;
  /** Principals whose calls were given up without an answer, and may go on talking; and since when. */
  readonly haunters: Map<string, number>;
}

/** No call runs longer by default; what was given up before that has nothing to say any more. */
const HAUNTED_FOR_MS = 15 * 60_000;

export class LogLanes {
  readonly #lanes = new WeakMap<ServerLink, Lane>();

  /** Hears what a server's shared link says of its own accord. */
  follow(server: Server): void {
    server.onCatalogueMessage((message, link) => this.receive(message, link));
  }

  /**
   * A message of a modern server that its wire ties to no call. It is the holder's only while nobody else's call is in
   * flight: a server may log for a request that did not ask for it.
   */
  receive(message: ServerMessage, link: ServerLink): void {
    if (message.method !== 'notifications/message' || link.inFlight > 1) return;
    this.#lanes.get(link)?.holder?.deliver(message);
  }

  /**
   * Takes the lane of a link for one request. Undefined while it is taken, or while a call of another principal that
   * was given up may still talk: the request then goes without a log level.
   */
  take(link: ServerLink, holder: Holder): LaneHold | undefined {
    const lane = this.#laneOf(link);
    if (lane.holder !== undefined || isHaunted(lane, holder.principal)) return undefined;
    lane.holder = holder;
    return {
      release() {
        if (lane.holder === holder) lane.holder = undefined;
      },
    };
  }

  /** A call was given up without its server's last word, whether or not it had asked for log lines. */
  noteGivenUp(link: ServerLink, principal: string): void {
    this.#laneOf(link).haunters.set(principal, performance.now());
  }

  #laneOf(link: ServerLink): Lane {
    let lane = this.#lanes.get(link);
    if (lane === undefined) {
      lane = { holder: undefined, haunters: new Map() };
      this.#lanes.set(link, lane);
    }
    return lane;
  }
}

function isHaunted({ haunters }: Lane, principal: string): boolean {
  const oldest = performance.now() - HAUNTED_FOR_MS;
  for (const [haunter, since] of haunters) {
    if (since < oldest) haunters.delete(haunter);
    else if (haunter !== principal) return true;
  }
  return false;
}

export interface LaneHold {
  release(): void;
}
