// What a config asks of the host that the host does not have, found when the config is loaded.
import { existsSync } from 'node:fs';
import { type Fault, fault } from '../../config/fault.ts';
import { Ledger, type RuleFindings, type RuleInput } from '../../config/ledger.ts';
import type { Path } from '../../config/source-tree.ts';
import { type AccountTables, findGroup, findUser, readAccountTables } from './accounts.ts';
import { namesContainer } from './container-run.ts';
import { findProgram } from './find-program.ts';
import { containerProgram } from './guardian.ts';

export interface Host {
  readonly isRoot: boolean;
  readonly hasPrlimit: boolean;
  /** What ends children when Portico is killed is a shell. */
  readonly hasShell: boolean;
  readonly accounts: AccountTables;
}

function thisHost(): Host {
  return {
    isRoot: process.getuid?.() === 0,
    hasPrlimit: process.platform === 'linux' && findProgram('prlimit') !== undefined,
    hasShell: process.platform === 'win32' || existsSync('/bin/sh'),
    accounts: readAccountTables(),
  };
}

export function judgeContainment(input: RuleInput, host = thisHost()): RuleFindings {
  const ledger = new Ledger(input);
  for (const [name, entry] of Object.entries(input.file.mcpServers)) {
    const at = (key: string): Path => ['mcpServers', name, key];
    const { command, disabled, args, resources, user, group } = entry;
    if (command === undefined) continue;
    if (!host.hasShell && !disabled) ledger.refuse(NO_PROGRAMS, at('command'));
    if (resources !== undefined) {
      ledger.refuse(resourcesFault(command, host), at('resources'), { on: 'key', reads: [at('command')] });
    }
    ledger.refuse(accountFault('user', user, host), at('user'));
    ledger.refuse(accountFault('group', group, host), at('group'));
    if (namesContainer(command, args)) ledger.refuse(OWN_NAME, at('args'), { reads: [at('command')] });
  }
  return ledger;
}

const NO_PROGRAMS: Fault = {
  message: 'no program is started here: this host has no shell (/bin/sh), as the image portico-slim',
  hint: 'Use the image portico, or run the server elsewhere and give its url.',
};

const OWN_NAME: Fault = {
  message: 'Portico names each container itself, for there may be several and it removes them by that name',
  hint: 'Remove --name.',
};

function resourcesFault(command: string, { hasPrlimit }: Host): Fault | undefined {
  const program = containerProgram(command);
  if (program !== undefined) {
    return fault(
      `these limits would bound ${program}'s client, not the container`,
      `Give ${program} its own --memory, --cpus and --pids-limit in args.`,
    );
  }
  if (hasPrlimit) return undefined;
  return fault(
    'this host has no prlimit, which these limits are set with',
    'Install util-linux (Linux only), or run the server in a container with limits of its own.',
  );
}

function accountFault(key: 'user' | 'group', name: string | undefined, host: Host): Fault | undefined {
  if (name === undefined) return undefined;
  if (!host.isRoot) {
    return fault(
      `only root may start a process as another ${key}`,
      `Start Portico as root, or remove ${key}.`,
    );
  }
  const find = key === 'user' ? findUser : findGroup;
  if (find(name, host.accounts) !== undefined) return undefined;
  return fault(
    `this host has no ${key} ${JSON.stringify(name)}`,
    `Name one of /etc/${key === 'user' ? 'passwd' : 'group'}.`,
  );
}
