// Credentials that only a caller's own token can get (token exchange): got where the token is, and handed to the replica
// that calls the server. They are the server's to see, sealed on the way, and for one exchange there; the token stays.
import { principalKey } from '../access/principal.ts';
import type { SealContext, SealedState } from '../bridge/seals/sealed-state.ts';
import { isJsonObject, readJson, writeJson } from '../protocol/json-text.ts';
import type { Caller } from '../servers/credentials/caller.ts';
import type { Credential } from '../servers/credentials/credential.ts';
import type { Server } from '../servers/server.ts';
import type { Exchange } from './exchange.ts';
import type { GatewayContext } from './gateway-context.ts';

export interface HandedCredentials {
  /** Undefined where there is nothing to hand over. */
  readonly sealed: string | undefined;
  /** The servers would not have them. */
  forget(): void;
}

/** @param to the id of the replica */
export async function sealCredentials(
  { credentials, bridge }: GatewayContext,
  { id, principal, caller }: Pick<Exchange, 'id' | 'principal' | 'caller'>,
  { to, servers }: { to: string; servers: readonly Server[] },
): Promise<HandedCredentials> {
  const got = await Promise.all(
    servers.map(async ({ config }) => ({ config, credential: await credentials.toHandOver(config, caller) })),
  );
  const handed = got.flatMap(({ config, credential }) =>
    credential === undefined ? [] : [{ config, credential }],
  );
  const text = writeJson(
    Object.fromEntries(handed.map(({ config: { slug }, credential }) => [slug, { ...credential }])),
  );
  return {
    sealed: handed.length === 0 ? undefined : bridge.state.seal(text, contextOf({ id, principal }, to)),
    forget() {
      for (const { config, credential } of handed) credentials.forgetHandedOver(config, caller, credential);
    },
  };
}

/**
 * The caller of an exchange that was handed over, with what came along for it.
 *
 * @param self the id of this replica
 */
export function callerWithCredentials(
  state: SealedState,
  { id, principal, caller, forwarded }: Exchange,
  self: string,
): Caller {
  const sealed = forwarded?.credentials;
  if (sealed === undefined) return caller;
  const text = state.open(sealed, contextOf({ id, principal }, self));
  const handed = text === undefined ? undefined : readJson(text);
  return {
    ...caller,
    handedOver: (server) => (isJsonObject(handed) ? readCredential(handed[server]) : undefined),
  };
}

function contextOf({ id, principal }: Pick<Exchange, 'id' | 'principal'>, replica: string): SealContext {
  return { purpose: 'credential', principal: principalKey(principal), server: '', scope: `${replica} ${id}` };
}

function readCredential(value: unknown): Credential | undefined {
  if (!isJsonObject(value)) return undefined;
  const { token, expiresAtMs } = value;
  if (typeof token !== 'string') return undefined;
  return { token, expiresAtMs: typeof expiresAtMs === 'number' ? expiresAtMs : undefined };
}
