// What a gateway uses: memory, descriptors and processes from /proc, its own counts from /metrics.
import { readdirSync, readFileSync } from 'node:fs';
import { childrenOf } from './children.ts';

export interface Vitals {
  readonly rssMb: number;
  readonly descriptors: number;
  /** Children, the guardian left out. */
  readonly processes: number;
  readonly cpuSeconds: number;
  readonly sessions: number;
  readonly openReplies: number;
  readonly openStreams: number;
  readonly parkedCalls: number;
  readonly bufferedBytes: number;
}

const MB = 1024 * 1024;

export async function readVitals({ pid, adminUrl }: { pid: number; adminUrl: string }): Promise<Vitals> {
  const metrics = await (await fetch(`${adminUrl}/metrics`)).text();
  const gauge = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(metrics)?.[1]);
  return {
    rssMb: residentBytes(pid) / MB,
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    processes: childrenOf(pid).length,
    cpuSeconds: cpuSeconds(pid),
    sessions: gauge('portico_sessions'),
    openReplies: gauge('portico_open_replies'),
    openStreams: gauge('portico_open_streams'),
    parkedCalls: gauge('portico_parked_calls'),
    bufferedBytes: gauge('portico_buffered_bytes'),
  };
}

/** How often a session was unknown, by what the gateway says had become of it; an empty word where it knows of none. */
export async function readUnknownSessions(adminUrl: string): Promise<ReadonlyMap<string, number>> {
  const metrics = await (await fetch(`${adminUrl}/metrics`)).text();
  const counts = metrics.matchAll(
    /^portico_refusals_total\{code="session-unknown",reason="(.*?)"\} (\S+)$/gm,
  );
  return new Map([...counts].map(([, end = '', count]) => [end, Number(count)]));
}

/** User and system time, proc(5), in ticks of a hundredth. */
function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

function residentBytes(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) * 1024;
}
