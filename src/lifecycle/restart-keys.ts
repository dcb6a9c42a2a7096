// What of a config a running gateway cannot take over: where it listens, under which URL, and what it shares with other
// replicas. Pure.
import { isDeepStrictEqual } from 'node:util';
import { isLoopbackHost } from '../config/addresses.ts';
import type { Config, GatewayConfig } from '../config/config.ts';

const RESTART_KEYS = ['listen', 'admin', 'publicUrl', 'redis', 'replica', 'audit'] as const;

export interface RunnableConfig {
  /** The new config, with these keys as they are in the one that runs. */
  readonly config: Config;
  /** Those of them that differ, as the file has them. */
  readonly needRestart: readonly string[];
  /** Without sign-in, where whoever reaches the address would use every server. */
  readonly isOpen: boolean;
}

export function runnableConfig(running: Config, wanted: Config): RunnableConfig {
  const kept = Object.fromEntries(RESTART_KEYS.map((key) => [key, running.gateway[key]]));
  const gateway = { ...wanted.gateway, ...kept } as GatewayConfig;
  const changed = RESTART_KEYS.filter((key) => !isDeepStrictEqual(running.gateway[key], wanted.gateway[key]));
  return {
    config: { ...wanted, gateway },
    needRestart: changed.map((key) => `gateway.${key}`),
    isOpen: gateway.auth === undefined && !gateway.insecure && !isLoopbackHost(gateway.listen.host),
  };
}
