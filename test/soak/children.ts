// The servers' processes of a gateway, told apart by what /proc says of them.
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { descendantsOf } from '../support/process-tree.ts';

export interface Child {
  readonly pid: number;
  /** It is one person's or one session's: its home is not ours. */
  readonly personal: boolean;
}

/** The guardian left out, which is a shell, and what has ended meanwhile. */
export function childrenOf(gatewayPid: number): Child[] {
  return descendantsOf(gatewayPid).flatMap(({ pid }) => {
    const [name = '', environment = ''] = ['comm', 'environ'].map((file) => readOf(pid, file));
    if (name === '' || name === 'sh\n') return [];
    return [{ pid, personal: !environment.split('\0').includes(`HOME=${homedir()}`) }];
  });
}

function readOf(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}
