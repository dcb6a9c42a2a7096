// What the kill of a replica did to clients, as a table, and what of it must not be.

import type { KillReport, KindReport } from './killed-replica.ts';
import type { Fate, NotedCall } from './load-client.ts';

const FATES: readonly Fate[] = ['answered', 'lost', 'failed', 'unknown session', 'wrong'];

export function renderKill({ kinds, ranTwice, orphans, orphansLeft }: KillReport): string {
  const heads = ['client', 'clients', 'calls', 'under way', ...FATES, 'back after, median', 'slowest'];
  const cells = kinds.map((each) => [
    each.kind,
    each.clients,
    each.calls.length,
    each.underWay,
    ...FATES.map((fate) => each.calls.filter((call) => call.fate === fate).length),
    `${median(each.backAfterMs).toFixed(0)} ms`,
    `${Math.max(...each.backAfterMs).toFixed(0)} ms`,
  ]);
  const rows = [heads, heads.map(() => '---'), ...cells].map((row) => `| ${row.join(' | ')} |`);
  return [
    ...rows,
    `${ranTwice.length} calls were run twice; of ${orphans} processes of the killed replica ${orphansLeft} are left`,
  ].join('\n');
}

/** All that must not be, in words; empty where the kill cost nobody more than it may. */
export function faultsOf({ kinds, ranTwice, orphansLeft }: KillReport): string[] {
  const faults = kinds.flatMap(kindFaults);
  if (ranTwice.length > 0) faults.push(`run twice: ${ranTwice.slice(0, 5).join(', ')}`);
  if (orphansLeft > 0) faults.push(`${orphansLeft} processes of the killed replica are left`);
  return faults;
}

function kindFaults({ kind, calls, owned, initializedAgain, backAfterMs }: KindReport): string[] {
  const faults: string[] = [];
  const blame = (what: string, found: readonly NotedCall[]) => {
    if (found.length === 0) return;
    const [{ id, told = '' } = { id: '' }] = found;
    faults.push(`${kind}: ${found.length} calls ${what}, as ${id} ${told}`);
  };
  blame(
    'were wrong',
    calls.filter(({ fate }) => fate === 'wrong'),
  );
  blame(
    'that were not under way were lost, or failed',
    calls.filter(({ fate, underWay }) => (fate === 'lost' || fate === 'failed') && !underWay),
  );
  if (kind === 'modern')
    blame(
      'were answered with a failure',
      calls.filter(({ fate }) => fate === 'failed'),
    );
  const allowed = kind === 'own child' ? owned : 0;
  const { owned: again, others } = initializedAgain;
  if (again !== allowed)
    faults.push(`${kind}: ${again} clients of the killed replica initialized again, not ${allowed}`);
  if (others > 0) faults.push(`${kind}: ${others} clients of other replicas had to initialize again`);
  if (backAfterMs.some((ms) => !Number.isFinite(ms)))
    faults.push(`${kind}: a client never had an answer again`);
  return faults;
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}
