// From a server's entry to what is really started: under the limits, the user, the home and the container name that
// contain it; and to what has to be cleaned up when it is gone.
import { execFile } from 'node:child_process';
import type { StdioServerConfig } from '../../config/config.ts';
import { GatewayError } from '../../errors.ts';
import { type Account, findGroup, findUser, readAccountTables } from './accounts.ts';
import { childEnvironment } from './child-environment.ts';
import type { Launch } from './child-process.ts';
import { type ContainerRun, containerRun } from './container-run.ts';
import { findProgram } from './find-program.ts';
import type { Guardian } from './guardian.ts';
import { createPrivateHome } from './private-home.ts';

export interface PreparedLaunch {
  readonly launch: Launch;
  /** Once the process and its group are gone. Idempotent, never rejects. */
  cleanUp(): Promise<void>;
}

export interface PrepareOptions {
  /** The process is one principal's, or one session's, alone. */
  readonly personal: boolean;
  readonly guardian: Guardian | undefined;
}

const CONTAINER_REMOVAL_MS = 10_000;

/** @throws GatewayError server-unavailable where the host does not have what the entry asks for */
export async function prepareLaunch(
  config: StdioServerConfig,
  { personal, guardian }: PrepareOptions,
): Promise<PreparedLaunch> {
  const account = accountOf(config);
  const container = containerRun(config.command, config.args, config.slug);
  // The client of a container needs our own: there are its contexts and credentials.
  const wantsHome = personal && config.privateHome && container === undefined;
  const { command, args } = limited(config, container?.args ?? config.args);
  const home = wantsHome ? await createPrivateHome(account) : undefined;
  const given = { ...accountEnvironment(account), ...home?.env };
  const { env, cwd } = config;
  const launch: Launch = {
    command,
    args,
    env,
    cwd,
    given,
    ...(account === undefined ? {} : { uid: account.uid, gid: account.gid }),
  };
  const forget = [
    container && guardian?.watch({ kind: container.program, name: container.name }),
    home && guardian?.watch({ kind: 'folder', path: home.folder }),
  ];
  let cleaned: Promise<void> | undefined;
  return {
    launch,
    cleanUp() {
      cleaned ??= cleanUp();
      return cleaned;
    },
  };

  async function cleanUp(): Promise<void> {
    if (container !== undefined)
      await removeContainer(config.command, container, childEnvironment(env, given));
    await home?.remove();
    for (const over of forget) over?.();
  }
}

/**
 * `prlimit` becomes the program, so the pid stays. Memory is what is written to (RLIMIT_DATA): of address space Node
 * and others reserve far more than they use.
 */
function limited(
  { command, resources }: StdioServerConfig,
  args: readonly string[],
): { command: string; args: readonly string[] } {
  if (resources === undefined) return { command, args };
  const prlimit = findProgram('prlimit');
  if (prlimit === undefined)
    throw unavailable('prlimit-missing', 'prlimit, which `resources` needs, is not there');
  const { memoryBytes, cpuSeconds, openFiles } = resources;
  const limits = [
    `--data=${memoryBytes}`,
    '--core=0',
    ...(cpuSeconds === undefined ? [] : [`--cpu=${cpuSeconds}`]),
    ...(openFiles === undefined ? [] : [`--nofile=${openFiles}`]),
  ];
  return { command: prlimit, args: [...limits, '--', command, ...args] };
}

function accountOf({ user, group }: StdioServerConfig): Account | undefined {
  if (user === undefined && group === undefined) return undefined;
  const tables = readAccountTables();
  const { getuid, getgid } = process;
  const ours = { uid: getuid?.() ?? 0, gid: getgid?.() ?? 0, name: undefined, home: undefined };
  const account = user === undefined ? ours : findUser(user, tables);
  if (account === undefined) throw unavailable('user-unknown', `this host has no user ${user}`);
  if (group === undefined) return account;
  const gid = findGroup(group, tables);
  if (gid === undefined) throw unavailable('group-unknown', `this host has no group ${group}`);
  return { ...account, gid };
}

function accountEnvironment(account: Account | undefined): Record<string, string> {
  if (account?.name === undefined) return {};
  const { name, home } = account;
  return { USER: name, LOGNAME: name, ...(home === undefined ? {} : { HOME: home }) };
}

/** One that ended with its client is gone already, and then this is told so. */
function removeContainer(
  program: string,
  { name }: ContainerRun,
  env: Record<string, string>,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  execFile(program, ['rm', '--force', name], { env, timeout: CONTAINER_REMOVAL_MS }, () => resolve());
  return promise;
}

function unavailable(reason: string, words: string): GatewayError {
  return new GatewayError('server-unavailable', { reason, cause: new Error(words) });
}
