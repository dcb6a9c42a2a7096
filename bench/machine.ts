// What the machine has for a benchmark: which cores are whose, which programs are there, and what a process has used.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/** Of /proc's clock: 100 a second on every Linux that Node runs on. */
const US_PER_TICK = 10_000;

export function has(program: string): boolean {
  const { error } = spawnSync(program, ['-v'], { stdio: 'ignore' });
  return error === undefined;
}

/**
 * The process under test has the first core to itself and everything else shares the others: or a fast generator would
 * take from what it measures. Undefined where there is one core, or no `taskset`: then figures say little.
 */
export const CORES =
  availableParallelism() > 1 && has('taskset')
    ? { target: '0', others: `1-${availableParallelism() - 1}` }
    : undefined;

export type Place = 'target' | 'others';

/** A command, on the cores of its place. */
export function placed(place: Place, command: readonly string[]): [string, string[]] {
  const [program = '', ...args] = CORES === undefined ? command : ['taskset', '-c', CORES[place], ...command];
  return [program, args];
}

/** User and system time of all threads of these processes, since they began. */
export function cpuUsOf(pids: readonly number[]): number {
  return sum(pids.map(cpuTicksOf)) * US_PER_TICK;
}

function cpuTicksOf(pid: number): number {
  const stat = read(`/proc/${pid}/stat`);
  // The name stands in brackets and may hold anything, so count from its end.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

export function rssMbOf(pids: readonly number[]): number {
  return sum(pids.map((pid) => memoryKb(pid, 'VmRSS'))) / 1024;
}

/** The most that they had since {@link forgetPeak}. */
export function peakRssMbOf(pids: readonly number[]): number {
  return sum(pids.map((pid) => memoryKb(pid, 'VmHWM'))) / 1024;
}

export function forgetPeak(pids: readonly number[]): void {
  for (const pid of pids) writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

function memoryKb(pid: number, field: string): number {
  return Number(new RegExp(`^${field}:\\s*(\\d+)`, 'm').exec(read(`/proc/${pid}/status`))?.[1] ?? 0);
}

export function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    read(`/proc/${pid}/task/${thread}/children`).split(' ').filter(Boolean).map(Number),
  );
}

function read(file: string): string {
  return readFileSync(file, 'utf8');
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
