// What of the public listener comes from the config and changes with it, while the listener itself stays.
import { type HostPolicy, publicHostPolicy } from '../access/host-policy.ts';
import type { IdentityKeys } from '../access/identity-keys.ts';
import { originPolicy } from '../access/origin-policy.ts';
import type { GatewayConfig } from '../config/config.ts';
import { type CheckCaller, callerCheck } from './check-caller.ts';
import type { GuardAddress, IpGuardOptions, IpGuards } from './ip-guard.ts';
import type { SignIn } from './sign-in.ts';
import { proxyTrust } from './trusted-proxies.ts';

export interface EdgeSettings {
  readonly config: GatewayConfig;
  /** Undefined: everyone is anonymous. */
  readonly signIn?: SignIn;
  /** Undefined: Portico signs nothing. */
  readonly identityKeys?: Pick<IdentityKeys, 'published'> | undefined;
  /** What holds before sign-in; undefined: nothing. */
  readonly ipGuard?: IpGuardOptions;
}

export interface EdgeParts {
  readonly signIn: SignIn | undefined;
  readonly identityKeys: EdgeSettings['identityKeys'];
  readonly hosts: HostPolicy;
  /** Host and Origin. */
  readonly checkCaller: CheckCaller;
  /** Undefined: no limit holds before sign-in. */
  readonly guardAddress: GuardAddress | undefined;
  isTrustedProxy(address: string): boolean;
  readonly bodyLimitBytes: number;
}

export function edgeParts(
  { config, signIn, identityKeys, ipGuard }: EdgeSettings,
  guards: IpGuards,
): EdgeParts {
  const listenHost = config.listen.host;
  const hosts = publicHostPolicy({ ...config, listenHost });
  return {
    signIn,
    identityKeys,
    hosts,
    checkCaller: callerCheck(originPolicy({ ...config, listenHost }), hosts),
    guardAddress: ipGuard && guards.guard(ipGuard),
    isTrustedProxy: proxyTrust(config.trustedProxies),
    bodyLimitBytes: config.bodyLimitBytes,
  };
}
