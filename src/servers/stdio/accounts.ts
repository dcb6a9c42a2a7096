// Users and groups of this host, by name or number, from its own tables.
import { readFileSync } from 'node:fs';

export interface Account {
  readonly uid: number;
  readonly gid: number;
  /** Undefined for a number that no table knows. */
  readonly name: string | undefined;
  readonly home: string | undefined;
}

export interface AccountTables {
  readonly passwd: string;
  readonly group: string;
}

export function readAccountTables(): AccountTables {
  return { passwd: readTable('/etc/passwd'), group: readTable('/etc/group') };
}

/** Undefined for a name that is in no table, and for a number without a group to go with it. */
export function findUser(text: string, { passwd }: AccountTables): Account | undefined {
  for (const [name = '', , uid, gid, , home] of rows(passwd)) {
    if (name === text || uid === text) return { uid: Number(uid), gid: Number(gid), name, home };
  }
  return undefined;
}

export function findGroup(text: string, { group }: AccountTables): number | undefined {
  for (const [name, , gid] of rows(group)) {
    if (name === text || gid === text) return Number(gid);
  }
  return undefined;
}

function* rows(table: string): Iterable<string[]> {
  for (const line of table.split('\n')) {
    if (line !== '' && !line.startsWith('#')) yield line.split(':');
  }
}

/** A host without the table knows nobody. */
function readTable(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
