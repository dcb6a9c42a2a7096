// Which processes a process has started, and which of them are still there, from /proc.
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** A process is known by its start time too, as pids are used again. */
export interface ProcessId {
  readonly pid: number;
  readonly startedAt: string;
}

/** All that descend from `pid` at this moment, itself left out. */
export function descendantsOf(pid: number): ProcessId[] {
  const parents = new Map<number, { parent: number; startedAt: string }>();
  for (const candidate of allPids()) {
    const stat = readStat(candidate);
    if (stat !== undefined) parents.set(candidate, stat);
  }
  const found: ProcessId[] = [];
  const wanted = new Set([pid]);
  for (let grown = true; grown; ) {
    grown = false;
    for (const [candidate, { parent, startedAt }] of parents) {
      if (!wanted.has(parent) || wanted.has(candidate)) continue;
      wanted.add(candidate);
      found.push({ pid: candidate, startedAt });
      grown = true;
    }
  }
  return found;
}

export function stillAlive(processes: readonly ProcessId[]): number[] {
  return processes
    .filter(({ pid, startedAt }) => readStat(pid)?.startedAt === startedAt)
    .map(({ pid }) => pid);
}

/** Those whose working directory is `folder`, be it removed by now: a child keeps it when its parents are gone. */
export function processesIn(folder: string): number[] {
  const names = [folder, `${folder} (deleted)`];
  return allPids().filter((pid) => {
    try {
      return names.includes(readlinkSync(`/proc/${pid}/cwd`)) && readStat(pid) !== undefined;
    } catch {
      return false;
    }
  });
}

/** None where the system has no /proc, so there a test sees no survivor. */
function allPids(): number[] {
  if (!existsSync('/proc/self/stat')) return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** Undefined for a process that is gone, or a zombie that only its parent has still to read. */
function readStat(pid: number): { parent: number; startedAt: string } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name stands in brackets and may hold anything, so count from its end.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z') return undefined;
    return { parent: Number(fields[1]), startedAt: fields[19] ?? '' };
  } catch {
    return undefined;
  }
}
