// What another replica needs to know of a session to go on with it: kept where all replicas see it, whenever it
// changes. Where there are none it is only what the session itself goes by.
import type { ServerConfig } from '../../config/config.ts';
import { isJsonObject, type JsonObject, readJson, writeJson } from '../../protocol/json-text.ts';
import type { UpstreamSession } from '../../servers/peer.ts';
import { NEW_STATE, type SessionState } from '../../state/session-store.ts';
import type { SealContext, SealedState } from '../seals/sealed-state.ts';

export interface KeptStateOptions {
  /** Of the session, as the two next. */
  readonly key: string;
  readonly principal: string;
  readonly seals: SealedState;
  /** What its former owner has kept. */
  readonly inherited?: SessionState | undefined;
  /** Undefined where nobody would take over. */
  readonly save?: ((state: SessionState) => Promise<void>) | undefined;
}

/** A server may say a lot of itself; then its session is no use to a successor. */
const MAX_UPSTREAM_CHARACTERS = 16_384;

export class KeptState {
  readonly #options: KeptStateOptions;
  #state: SessionState;
  /** Sessions at servers that nobody has gone on in yet, by slug. */
  readonly #heirlooms: Map<string, string> | undefined;
  /** As they were noted last: the same seal twice has two texts. */
  #upstreamIds: Map<string, string> | undefined;

  constructor(options: KeptStateOptions) {
    this.#options = options;
    this.#state = options.inherited ?? NEW_STATE;
    this.#heirlooms = options.inherited && new Map(Object.entries(options.inherited.upstreamSessions));
  }

  get state(): SessionState {
    return this.#state;
  }

  /** The newest state is saved again until it is, should the store be away. */
  note(change: Partial<SessionState>): void {
    this.#state = { ...this.#state, ...change };
    this.#options.save?.(this.#state).catch(() => {});
  }

  /**
   * It asks for a child process of its own, which no successor could go on with. That has to be known before the
   * process knows anything.
   *
   * @throws GatewayError store-unavailable
   */
  claimProcess(): Promise<void> | undefined {
    const { save } = this.#options;
    if (save === undefined || this.#state.hasProcess) return undefined;
    this.#state = { ...this.#state, hasProcess: true };
    return save(this.#state);
  }

  /** Its session at a legacy HTTP server; sealed, as whoever has the id goes on in it. */
  noteUpstream(server: ServerConfig, { id, peer }: UpstreamSession): void {
    if (this.#options.save === undefined || server.type !== 'http') return;
    this.#upstreamIds ??= new Map();
    if (this.#upstreamIds.get(server.slug) === id) return;
    this.#upstreamIds.set(server.slug, id);
    const { version, capabilities, serverInfo } = peer;
    const text = writeJson({ id, version, capabilities, serverInfo });
    if (text.length > MAX_UPSTREAM_CHARACTERS) return;
    const sealed = this.#options.seals.seal(text, this.#contextOf(server.slug, server.url));
    this.note({ upstreamSessions: { ...this.#state.upstreamSessions, [server.slug]: sealed } });
  }

  /** The slugs of servers where a session is left to go on in. */
  get heirlooms(): readonly string[] {
    return [...(this.#heirlooms?.keys() ?? [])];
  }

  /** The session at that server that a former owner had; handed out once. */
  inherit(server: ServerConfig): UpstreamSession | undefined {
    const sealed = this.#heirlooms?.get(server.slug);
    this.#heirlooms?.delete(server.slug);
    if (sealed === undefined || server.type !== 'http') return undefined;
    const text = this.#options.seals.open(sealed, this.#contextOf(server.slug, server.url));
    return text === undefined ? undefined : readUpstream(readJson(text));
  }

  /** It is worth something at its own address alone, wherever a config may have moved the server since. */
  #contextOf(server: string, url: string): SealContext {
    const { key, principal } = this.#options;
    return { purpose: 'session', principal, server, scope: writeJson([key, url]) };
  }
}

function readUpstream(value: unknown): UpstreamSession | undefined {
  if (!isJsonObject(value)) return undefined;
  const { id, version, capabilities, serverInfo } = value;
  const peer = {
    era: 'legacy' as const,
    version: String(version),
    serverInfo: isJsonObject(serverInfo) ? serverInfo : undefined,
    capabilities: capabilities as JsonObject,
    instructions: undefined,
  };
  return { id: String(id), peer };
}
