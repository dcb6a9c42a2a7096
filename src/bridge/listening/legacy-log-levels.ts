// Log levels of modern requests on a legacy link, which knows only one level for all: it is set to the most talkative
// that calls in flight ask for, and each call is handed what it asked for.
import type { ClientRequest } from '../../protocol/client-message.ts';
import { isAtLeastAsGrave, isLogLevel, type LogLevel, mostTalkative } from '../../protocol/log-levels.ts';
import type { ServerLink } from '../../servers/server-link.ts';
import type { ServerMessage } from '../../servers/transport.ts';

interface Taker {
  readonly level: LogLevel;
  deliver(message: ServerMessage): void;
}

const SETTING_TIMEOUT_MS = 5_000;
const NOT_LOGGING = { leave: () => {} };

export class LegacyLogLevels {
  readonly #link: ServerLink;
  readonly #takers = new Set<Taker>();
  #set: LogLevel | undefined;

  constructor(link: ServerLink) {
    this.#link = link;
  }

  /**
   * Sees to it that the server logs what this request asks for, for as long as its exchange goes on. A server that
   * will not is no reason to fail.
   */
  async enter(request: ClientRequest, deliver: (message: ServerMessage) => void): Promise<{ leave(): void }> {
    const level = request.era === 'modern' ? request.meta.logLevel : undefined;
    const link = this.#link;
    if (!isLogLevel(level) || link.peer.capabilities.logging === undefined) return NOT_LOGGING;
    const taker: Taker = { level, deliver };
    this.#takers.add(taker);
    const wanted = mostTalkative([...this.#takers].map((each) => each.level));
    if (wanted !== this.#set) {
      this.#set = wanted;
      const signal = AbortSignal.timeout(SETTING_TIMEOUT_MS);
      await link.call('logging/setLevel', { level: wanted }, { signal }).catch(() => undefined);
    }
    return { leave: () => this.#takers.delete(taker) };
  }

  /** On a pipe a line names no call: it is a sole caller's, or nobody's. `runningCalls` are those not parked. */
  receive(message: ServerMessage, runningCalls: number): void {
    if (message.method !== 'notifications/message') return;
    const [sole, ...others] = this.#takers;
    if (sole === undefined || others.length > 0 || runningCalls > 1) return;
    if (isWanted(message, sole.level)) sole.deliver(message);
  }
}

/** True when a log message is as grave as was asked for. */
export function isWanted({ params }: ServerMessage, asked: LogLevel): boolean {
  return isLogLevel(params?.level) && isAtLeastAsGrave(params.level, asked);
}
