// Memory and CPU time of process groups, read from /proc when somebody asks, and kept for some seconds: a package
// runner's server is a grandchild, so the whole group counts. Other systems than Linux have no such figures.
import { readdirSync, readFileSync } from 'node:fs';

export interface GroupUsage {
  readonly rssBytes: number;
  /** Of the members that live. */
  readonly cpuSeconds: number;
}

const KEPT_MS = 5_000;
const PAGE_BYTES = 4_096;
const TICKS_PER_SECOND = 100;

export class GroupUsages {
  readonly #now: () => number;
  #usages: ReadonlyMap<number, GroupUsage> = new Map();
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** By the pid of the group's leader; undefined for one that is gone, or was not there when it was last read. */
  of(groupId: number): GroupUsage | undefined {
    if (this.#now() - this.#readAt >= KEPT_MS) {
      this.#usages = readUsages();
      this.#readAt = this.#now();
    }
    return this.#usages.get(groupId);
  }
}

function readUsages(): Map<number, GroupUsage> {
  const usages = new Map<number, GroupUsage>();
  if (process.platform !== 'linux') return usages;
  for (const pid of readdirSync('/proc')) {
    const stat = /^\d+$/.test(pid) ? readStat(pid) : undefined;
    if (stat === undefined) continue;
    const known = usages.get(stat.groupId) ?? { rssBytes: 0, cpuSeconds: 0 };
    usages.set(stat.groupId, {
      rssBytes: known.rssBytes + stat.rssBytes,
      cpuSeconds: known.cpuSeconds + stat.cpuSeconds,
    });
  }
  return usages;
}

/** proc(5); the name stands in brackets and may hold anything, so fields count from its end. */
function readStat(pid: string): (GroupUsage & { groupId: number }) | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const field = (number: number) => Number(fields[number - 3]);
    return {
      groupId: field(5),
      cpuSeconds: (field(14) + field(15)) / TICKS_PER_SECOND,
      rssBytes: field(24) * PAGE_BYTES,
    };
  } catch {
    return undefined;
  }
}
