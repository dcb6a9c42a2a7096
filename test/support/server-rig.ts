// One `Server` with the real wires below it and nothing above. Closed when the test is over, and held to it that neither
// a process nor a byte of it is left.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { ServerConfig } from '../../src/config/config.ts';
import { createOutbound } from '../../src/servers/http/outbound.ts';
import { transportOpener } from '../../src/servers/open-transport.ts';
import { type ProcessCaps, ProcessPlaces } from '../../src/servers/process-places.ts';
import { Server } from '../../src/servers/server.ts';
import type { ServerLink } from '../../src/servers/server-link.ts';
import type { StdioTimings } from '../../src/servers/stdio/stdio-transport.ts';
import { BufferBudget } from '../../src/state/buffer-budget.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { childrenFolder } from './children-folder.ts';
import { ANY_FOLDER, modernMeta, textOf } from './stdio-rig.ts';
import { testCredentials } from './test-credentials.ts';

export interface ServerRig {
  readonly server: Server;
  /** Log lines, as JSON. */
  readonly logs: readonly string[];
}

export interface RigChanges {
  readonly caps?: Partial<ProcessCaps>;
  readonly timings?: Partial<StdioTimings>;
  /** The clock by which an era is remembered. */
  readonly now?: () => number;
}

export function openServer(
  t: TestContext,
  config: ServerConfig,
  { caps = {}, timings = {}, now = () => performance.now() }: RigChanges = {},
): ServerRig {
  const logs: string[] = [];
  const logger = createLogger({
    level: 'debug',
    secrets: [],
    destination: { write: (line: string) => void logs.push(line) },
  });
  const outbound = createOutbound({ proxy: undefined, ca: undefined });
  const budget = new BufferBudget(Number.POSITIVE_INFINITY);
  const identity = { name: 'portico', title: 'Portico', version: '0.0.0-test' };
  const stdio = config.type === 'stdio' ? config : undefined;
  const folder = childrenFolder(stdio?.cwd === ANY_FOLDER ? undefined : stdio?.cwd);
  const server = new Server({
    config: stdio === undefined ? config : { ...stdio, cwd: folder.path },
    identity,
    logger,
    now,
    openTransport: transportOpener({
      outbound,
      credentials: testCredentials({ outbound, logger }),
      logger,
      budget,
      timings,
    }),
    places: new ProcessPlaces({ max: 1_000, maxPerPrincipal: 1_000, ...caps }),
  });
  t.after(async () => {
    await server.close();
    await outbound.close();
    await folder.assertDeserted();
    assert.equal(budget.usedBytes, 0, 'the server still counts what it held');
  });
  return { server, logs };
}

/** A folder for the test alone, by which its children can be found: see `processesIn`. */
export async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'portico-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Calls a tool of the link's era; the text of its answer. */
export async function callTool(
  link: ServerLink,
  name: string,
  args: Record<string, string | number | boolean> = {},
): Promise<string> {
  const meta = link.peer.era === 'modern' ? { _meta: modernMeta() } : {};
  const { signal } = new AbortController();
  return textOf(await link.call('tools/call', { name, arguments: args, ...meta }, { signal }));
}
