// What a gateway uses: memory, descriptors and processes from /proc, its own counts from /metrics.
import { readdirSync, readFileSync } from 'node:fs';
import { descendantsOf } from '../support/process-tree.ts';

export interface Vitals {
  readonly rssMb: number;
  readonly descriptors: number;
  readonly processes: number;
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
    processes: descendantsOf(pid).length,
    sessions: gauge('portico_sessions'),
    openReplies: gauge('portico_open_replies'),
    openStreams: gauge('portico_open_streams'),
    parkedCalls: gauge('portico_parked_calls'),
    bufferedBytes: gauge('portico_buffered_bytes'),
  };
}

function residentBytes(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) * 1024;
}
