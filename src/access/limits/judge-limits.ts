// What `gateway.limits` says wrong, found before anybody is limited by it.
import { type Fault, fault } from '../../config/fault.ts';
import { Ledger, type RuleFindings, type RuleInput } from '../../config/ledger.ts';
import type { ConfigFile } from '../../config/schema.ts';
import { slugOf } from '../../config/slug.ts';
import type { Path } from '../../config/source-tree.ts';
import { kindDoubt, targetFault } from '../rules/target-fault.ts';

type GatewaySection = ConfigFile['gateway'];
type LimitSection = GatewaySection['limits'][number];

const LIMITS: Path = ['gateway', 'limits'];

export function judgeLimits(input: RuleInput): RuleFindings {
  const ledger = new Ledger(input);
  const { gateway, mcpServers } = input.file;
  const servers = Object.keys(mcpServers).map(slugOf);
  const names = gateway.limits.map(({ name }) => name);
  for (const [index, limit] of gateway.limits.entries()) {
    const at = (...keys: string[]): Path => [...LIMITS, index, ...keys];
    if (names.indexOf(limit.name) < index) ledger.refuse(SAME_NAME, at('name'));
    ledger.refuse(targetFault(limit.match, servers), at('match'), { reads: [['mcpServers']] });
    ledger.warn(kindDoubt(limit.match), at('match'));
    checkAmounts(limit, at, ledger);
    if (limit.lease !== undefined && gateway.redis === undefined) ledger.warn(LEASE_ALONE, at('lease'));
    checkKey(limit, gateway, { at: at('key'), ledger });
  }
  return ledger;
}

function checkAmounts(
  { max, inFlight, cost, lease }: LimitSection,
  at: (...keys: string[]) => Path,
  ledger: Ledger,
) {
  const maxAt = at('max');
  if (max === undefined && inFlight === undefined) {
    ledger.refuse(LIMITS_NOTHING, at(), { reads: [maxAt, at('inFlight')] });
  }
  if (max === undefined) {
    for (const key of ['window', 'cost', 'lease']) {
      if (ledger.isWritten(at(key)))
        ledger.warn(fault(`${key} means nothing without max`, ''), at(key), [maxAt]);
    }
    return;
  }
  for (const kind of ['call', 'list'] as const) {
    if ((cost?.[kind] ?? 1) > max) ledger.refuse(NEVER_FITS, at('cost', kind), { reads: [maxAt] });
  }
  if ((lease ?? 1) > max) ledger.refuse(LEASE_TOO_LARGE, at('lease'), { reads: [maxAt] });
}

function checkKey(
  { key }: LimitSection,
  { auth, publicUrl, listen, trustedProxies }: GatewaySection,
  { at, ledger }: { at: Path; ledger: Ledger },
): void {
  const parts = key.split('+');
  const isOfCaller = ['principal', 'client', 'group'].some((part) => parts.includes(part));
  if (isOfCaller && auth === undefined) ledger.warn(ALL_ONE_CALLER, at, [['gateway', 'auth']]);
  const hasProxy = publicUrl?.startsWith('https:') === true && listen.tls === undefined;
  if (parts.includes('ip') && hasProxy && trustedProxies.length === 0) {
    ledger.warn(ONE_ADDRESS, at, [
      ['gateway', 'publicUrl'],
      ['gateway', 'listen', 'tls'],
      ['gateway', 'trustedProxies'],
    ]);
  }
}

const SAME_NAME: Fault = { message: 'a limit above has the same name', hint: 'Rename one.' };

const LIMITS_NOTHING: Fault = {
  message: 'this limits nothing',
  hint: 'Give it max, the most in a window, or inFlight, the most at a time.',
};

const NEVER_FITS: Fault = {
  message: 'one such request costs more than max, so none would ever pass',
  hint: 'Raise max, or lower the cost.',
};

const LEASE_TOO_LARGE: Fault = {
  message: 'a lease is more than the whole limit',
  hint: 'A tenth of max for each replica is plenty.',
};

const LEASE_ALONE: Fault = {
  message: 'lease means nothing without gateway.redis',
  hint: 'In process every request is counted exactly.',
};

const ALL_ONE_CALLER: Fault = {
  message: 'without gateway.auth everyone is one and the same caller',
  hint: 'Set gateway.auth, or count by ip.',
};

const ONE_ADDRESS: Fault = {
  message: 'TLS seems to end at a proxy, and then all callers have its address',
  hint: 'Name it in gateway.trustedProxies.',
};
