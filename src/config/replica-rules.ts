// Rules of `gateway.replica`.
import { type Address, addressesCollide } from './addresses.ts';
import { type Fault, fault } from './fault.ts';

/** Below it, whoever reads one envelope on the network could try secrets until one fits. */
const MIN_SECRET_CHARACTERS = 32;
const UNSPECIFIED_HOSTS = ['0.0.0.0', '[::]'];

export function redisMissing({ redis }: { readonly redis?: unknown }): Fault | undefined {
  if (redis !== undefined) return undefined;
  return fault('gateway.replica needs gateway.redis, where replicas find each other', 'Set gateway.redis.');
}

export function replicaUrlFault(url: string): Fault | undefined {
  const [, userinfo, host, rest = ''] = /^https?:\/\/([^/?#]*@)?([^/?#@]+)(.*)$/s.exec(url) ?? [];
  if (host === undefined || /[\s\\]/.test(url) || !URL.canParse(url)) {
    return fault('expected an http:// or https:// URL', 'As in http://10.0.0.5:9091.');
  }
  if (userinfo !== undefined) return fault('a user or password has no place in this URL', 'Remove it.');
  if (rest !== '') return fault('something stands behind the host and port of this URL', 'Remove it.');
  return UNSPECIFIED_HOSTS.includes(new URL(url).hostname)
    ? fault('nobody can be reached at this address', 'Name an address of this machine that the others reach.')
    : undefined;
}

export function replicaSecretFault(secret: string): Fault | undefined {
  return [...secret].length >= MIN_SECRET_CHARACTERS
    ? undefined
    : fault(
        `the secret has fewer than ${MIN_SECRET_CHARACTERS} characters`,
        'Make one with openssl rand -base64 32, the same for all replicas.',
      );
}

export function replicaPortFault(replica: Address, other: Address, name: string): Fault | undefined {
  if (!addressesCollide(replica, other)) return undefined;
  return fault(`the listener for other replicas has the port of the ${name} one`, 'Give it another.');
}
