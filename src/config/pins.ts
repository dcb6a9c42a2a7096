// `gateway.pins`: the approved definitions of tools, from the lock beside the config, and what is wrong with it.
import { access } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Fault } from './fault.ts';
import type { ConfigFile } from './schema.ts';
import { slugOf } from './slug.ts';
import type { Finding, Path } from './source-tree.ts';
import { LOCK_NAME, readLock, type ToolLock } from './tool-lock.ts';

export interface PinsConfig {
  /** Whether a tool that is not as approved is left out, or spoken of alone. */
  readonly mode: 'enforce' | 'warn';
  readonly lock: ToolLock;
}

export interface PinsReading {
  readonly pins: PinsConfig | undefined;
  readonly errors: readonly Finding[];
  readonly warnings: readonly Finding[];
}

export const NO_PINS: PinsReading = { pins: undefined, errors: [], warnings: [] };

/** @param path absolute */
export type ReadFile = (path: string, maxMib: number) => Promise<string>;

const MAX_MIB = 64;
const PINS: Path = ['gateway', 'pins'];

export async function readPins(
  { gateway, mcpServers }: ConfigFile,
  folder: string,
  readFile: ReadFile,
): Promise<PinsReading> {
  const mode = gateway.pins;
  if (mode === undefined) return NO_PINS;
  try {
    const lock = await readLockIn(folder, readFile);
    if (lock === undefined) return withoutLock(mode);
    const unknown = Object.entries(mcpServers).filter(
      ([name, entry]) => !entry.disabled && !lock.has(slugOf(name)),
    );
    const warnings = unknown.map(([name]) =>
      finding(['mcpServers', name], 'key', notPinned(mode, slugOf(name))),
    );
    return { pins: { mode, lock }, errors: [], warnings };
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    return { ...NO_PINS, errors: [finding(PINS, 'value', uselessLock(reason))] };
  }
}

/**
 * @returns undefined where there is none
 * @throws Error whose message completes "portico.lock is of no use:"
 */
export async function readLockIn(folder: string, readFile: ReadFile): Promise<ToolLock | undefined> {
  const path = resolve(folder, LOCK_NAME);
  try {
    return readLock(await readFile(path, MAX_MIB));
  } catch (thrown) {
    if (await isMissing(path)) return undefined;
    throw thrown;
  }
}

function isMissing(path: string): Promise<boolean> {
  return access(path).then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
  );
}

function withoutLock(mode: PinsConfig['mode']): PinsReading {
  const found = finding(PINS, 'value', noLock(mode));
  if (mode === 'enforce') return { ...NO_PINS, errors: [found] };
  return { ...NO_PINS, pins: { mode, lock: new Map() }, warnings: [found] };
}

function noLock(mode: PinsConfig['mode']): Fault {
  return {
    message:
      mode === 'enforce'
        ? `there is no ${LOCK_NAME} beside this file, so no tool could be served`
        : `there is no ${LOCK_NAME} beside this file, so every tool counts as new`,
    hint: 'Run portico pin, read what it writes, and keep it with this file.',
  };
}

function uselessLock(reason: string): Fault {
  return { message: `${LOCK_NAME} is of no use: ${reason}`, hint: 'Run portico pin to write it anew.' };
}

function notPinned(mode: PinsConfig['mode'], slug: string): Fault {
  const effect = mode === 'enforce' ? 'none of its tools is served' : 'all of its tools count as new';
  return {
    message: `${LOCK_NAME} has nothing of ${slug}, so ${effect}`,
    hint: `Run portico pin --server ${slug}.`,
  };
}

function finding(path: Path, on: Finding['on'], found: Fault): Finding {
  return { path, on, ...found };
}
