// A child's whole process group: the child and whatever it started, which a package runner or a shell leaves behind
// when only the child is killed. A group that was once seen empty is never signalled again: its number may be reused.
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

const FIRST_POLL_MS = 5;
const LONGEST_POLL_MS = 100;

export class ProcessGroup {
  readonly #groupId: number;
  #gone = false;

  /** `groupId` is the pid of the leader, a child that was started detached. */
  constructor(groupId: number) {
    this.#groupId = groupId;
  }

  /** Signals every member; nothing happens once the group is gone. */
  signal(signal: 'SIGTERM' | 'SIGKILL'): void {
    this.#send(signal);
  }

  /** Waits for the last member to end, `timeoutMs` at most. The members are not our children, so it has to look. */
  async goneWithin(timeoutMs: number): Promise<boolean> {
    const deadline = performance.now() + timeoutMs;
    for (let pollMs = FIRST_POLL_MS; ; pollMs = Math.min(pollMs * 2, LONGEST_POLL_MS)) {
      if (await this.isGone()) return true;
      const leftMs = deadline - performance.now();
      if (leftMs <= 0) return false;
      await delay(Math.min(pollMs, leftMs));
    }
  }

  async isGone(): Promise<boolean> {
    this.#send(0);
    this.#gone ||= await holdsOnlyZombies(this.#groupId);
    return this.#gone;
  }

  #send(signal: 'SIGTERM' | 'SIGKILL' | 0): void {
    if (this.#gone) return;
    try {
      process.kill(-this.#groupId, signal);
    } catch (error) {
      // EPERM: there is a member, but it changed its user and is out of reach.
      this.#gone = (error as NodeJS.ErrnoException).code === 'ESRCH';
    }
  }
}

/**
 * True when all that is left of a group are dead processes that nobody has collected: without an init process in the
 * container, orphans stay so for good. Only Linux can tell; elsewhere false.
 */
async function holdsOnlyZombies(groupId: number): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  let members = 0;
  for (const pid of await readdir('/proc').catch(() => [])) {
    if (!/^\d+$/.test(pid)) continue;
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
    // "pid (name) state ppid pgrp ...", where the name may hold anything, spaces and parentheses too.
    const [state, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (Number(group) !== groupId) continue;
    if (state !== 'Z' && state !== 'X') return false;
    members += 1;
  }
  return members > 0;
}
