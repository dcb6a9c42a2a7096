// `portico pin`: asks each server for its tools and writes them to portico.lock, for people to read and to approve;
// with --check it only says what differs from there.
import { rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Config } from '../config/config.ts';
import { readLockIn } from '../config/pins.ts';
import { readSmallFile } from '../config/small-file.ts';
import { LOCK_NAME, lockText, type PinnedTools, pinOf, type ToolLock } from '../config/tool-lock.ts';
import { GatewayError } from '../errors.ts';
import { ToolPins } from '../federation/tool-pins.ts';
import { createGateway, type Gateway } from '../gateway.ts';
import { visibleJson } from '../protocol/visible-json.ts';
import { createLogger } from '../telemetry/logger.ts';
import { createRedact, type Redact } from '../telemetry/redaction.ts';
import { type Output, problemLines } from './check.ts';
import { loadWhole } from './load-whole.ts';
import { readVersion } from './version.ts';

export interface PinOptions {
  readonly file: string;
  /** By its name or slug; all of them without it. */
  readonly server: string | undefined;
  /** Writes nothing. */
  readonly isCheck: boolean;
  readonly env: NodeJS.ProcessEnv;
  readonly stdout: Output;
  readonly stderr: Output;
}

/** Resolves with the exit code. */
export async function pin(options: PinOptions): Promise<number> {
  const { file, isCheck, env, stdout, stderr } = options;
  const loaded = await loadWhole(file, { env, withoutLock: true });
  if (!loaded.ok) {
    stdout.write(problemLines(loaded.problems));
    return 1;
  }
  const { config } = loaded;
  const chosen = config.servers.filter(({ slug, name }) => [slug, name, undefined].includes(options.server));
  if (chosen.length === 0) return failed(stderr, `there is no server ${options.server ?? 'in this config'}`);
  const folder = dirname(resolve(file));
  const before = await readLockIn(folder, (path, maxMib) => readSmallFile(path, undefined, maxMib)).catch(
    (error: Error) => error,
  );
  if (before === undefined && isCheck) return failed(stderr, `there is no ${LOCK_NAME}; run portico pin`);
  if (before instanceof Error && (isCheck || options.server !== undefined)) {
    return failed(stderr, `${LOCK_NAME} is of no use: ${before.message}; run portico pin to write it anew`);
  }
  const approved: ToolLock = before instanceof Error || before === undefined ? new Map() : before;
  const { asked, personal } = await askAll(
    config,
    chosen.map(({ slug }) => slug),
    stderr,
  );
  const differences = [...asked].flatMap(([slug, tools]) =>
    differenceLines(slug, approved.get(slug) ?? new Map(), tools),
  );
  stdout.write(differences.map((line) => `${line}\n`).join(''));
  const isWhole = asked.size + personal === chosen.length;
  if (isCheck) {
    if (differences.length === 0 && isWhole) stdout.write(`everything is as ${LOCK_NAME} has it\n`);
    return differences.length === 0 && isWhole ? 0 : 1;
  }
  const kept = [...approved].filter(([slug]) => config.servers.some((server) => server.slug === slug));
  try {
    await writeWhole(join(folder, LOCK_NAME), lockText(new Map([...kept, ...asked])));
  } catch (thrown) {
    return failed(stderr, `cannot write ${LOCK_NAME}: ${(thrown as Error).message}`);
  }
  for (const [slug, tools] of asked) stdout.write(`${slug}: ${tools.size} tools pinned\n`);
  stdout.write(`wrote ${join(folder, LOCK_NAME)}; read it before you trust it\n`);
  return isWhole ? 0 : 1;
}

interface Asked {
  readonly asked: ToolLock;
  /** Servers that act for each caller, of which there is none here: no reason to fail. */
  readonly personal: number;
}

/** Those that could be asked; of the others standard error says why not. */
async function askAll(config: Config, slugs: readonly string[], stderr: Output): Promise<Asked> {
  // Nothing is served, so there is nothing to be recorded, and nobody to share with.
  const gateway = { ...config.gateway, audit: undefined, redis: undefined };
  const logger = createLogger({ level: 'silent', secrets: config.secrets });
  const running = await createGateway({
    config: { ...config, gateway },
    version: await readVersion(),
    logger,
  });
  const ending = new AbortController();
  const end = () => ending.abort(new Error('told to end'));
  process.once('SIGINT', end).once('SIGTERM', end);
  // Nothing listens, and what waits for a child process to end does not hold this one.
  const alive = setInterval(() => {}, 60_000);
  try {
    const say = (text: string) => stderr.write(`portico: ${text}\n`);
    const redact = createRedact(config.secrets);
    let personal = 0;
    const asking = slugs.map(async (slug): Promise<[string, PinnedTools] | undefined> => {
      try {
        return [slug, await ask(running, slug, { signal: ending.signal, say })];
      } catch (thrown) {
        if (actsForCallers(thrown)) personal += 1;
        say(`${slug} cannot be asked for its tools: ${whyNot(thrown, redact)}`);
        return undefined;
      }
    });
    const asked = new Map((await Promise.all(asking)).filter((tools) => tools !== undefined));
    return { asked, personal };
  } finally {
    process.off('SIGINT', end).off('SIGTERM', end);
    await running.close();
    clearInterval(alive);
  }
}

async function ask(
  gateway: Gateway,
  slug: string,
  { signal, say }: { signal: AbortSignal; say(text: string): void },
): Promise<PinnedTools> {
  const { tools, ambiguous } = await gateway.definedTools(slug, signal);
  for (const name of ambiguous) {
    const shown = visibleJson(JSON.stringify(name));
    say(`${slug} defines ${shown} otherwise for clients that can be asked questions; that is not pinned`);
  }
  return new Map([...tools].map(([name, definition]) => [name, pinOf(definition)]));
}

function differenceLines(slug: string, approved: PinnedTools, tools: PinnedTools): string[] {
  const pins = new ToolPins(approved);
  const gone = [...approved.keys()].filter((name) => !tools.has(name)).map((name) => row(slug, 'gone', name));
  const differing = [...tools].flatMap(([name, { definition }]) => {
    const found = pins.differenceOf(name, definition);
    if (found === undefined) return [];
    const fields = found.fields.flatMap((field) => [
      `    ${visibleJson(JSON.stringify(field))} was ${visibleJson(found.was[field] ?? 'not there')}`,
      `    ${visibleJson(JSON.stringify(field))} is  ${visibleJson(found.is[field] ?? 'not there')}`,
    ]);
    return [row(slug, found.problem, name), ...fields];
  });
  return [...differing, ...gone];
}

function row(slug: string, problem: string, name: string): string {
  return `${slug}: ${problem.padEnd(7)} ${visibleJson(JSON.stringify(name))}`;
}

/** A reader finds the lock of before, or the new one. */
async function writeWhole(path: string, text: string): Promise<void> {
  const draft = `${path}.${process.pid}`;
  try {
    await writeFile(draft, text);
    await rename(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
}

function actsForCallers(thrown: unknown): boolean {
  return thrown instanceof GatewayError && thrown.details.reason === 'no-caller';
}

function whyNot(thrown: unknown, redact: Redact): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const reason = thrown instanceof GatewayError ? thrown.details.reason : undefined;
  if (actsForCallers(thrown)) return 'it acts for each caller, and there is none here';
  const cause = thrown.cause instanceof Error ? `: ${thrown.cause.message}` : '';
  return redact(`${reason ?? thrown.message}${cause}`);
}

function failed(stderr: Output, message: string): 1 {
  stderr.write(`portico: ${message}\n`);
  return 1;
}
