// On whose behalf a server is called, as far as signing in there needs to know it.
import type { ServerConfig } from '../../config/config.ts';
import { isPersonalAuth } from '../../config/server-auth-config.ts';
import type { CallerToken } from './caller-token.ts';

export interface Caller {
  /** One text for one principal: issuer, subject and client. */
  readonly key: string;
  readonly issuer: string;
  readonly subject: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
  readonly groups: readonly string[];
  /** When its sign-in ends, by `Date.now()`; undefined for what has no end of its own. */
  readonly expiresAtMs: number | undefined;
  /** What it signed in with; undefined where that was no token of an issuer. Read from its request each time. */
  token(): CallerToken | undefined;
  /** What another replica has got for it to show to that server; undefined where its own request is here. */
  handedOver?(server: string): HandedOver | undefined;
}

/** A credential. */
export interface HandedOver {
  readonly token: string;
  /** By `Date.now()`; undefined for what has no end that we know of. */
  readonly expiresAtMs: number | undefined;
}

/** Whether what the server sees depends on who calls: nobody then shares a link with anybody else. */
export function isPersonal(config: ServerConfig): boolean {
  return config.type === 'stdio' ? config.personalEnv !== undefined : isPersonalAuth(config.auth);
}
