// `portico serve`: load the config, start the gateway, reload it when the config changes, end it when the process is
// told to end.
import { watchFiles } from '../config/watch-files.ts';
import { createGateway, type Gateway } from '../gateway.ts';
import { flushLog } from '../telemetry/flush-log.ts';
import { createLogger, type Logger } from '../telemetry/logger.ts';
import { type Output, problemLines } from './check.ts';
import { loadWhole } from './load-whole.ts';
import { readVersion } from './version.ts';
import { welcome } from './welcome.ts';

export interface ServeOptions {
  readonly file: string;
  readonly listen: { readonly host?: string; readonly port?: number };
  readonly env: NodeJS.ProcessEnv;
  readonly stdout: Output;
  readonly stderr: Output;
}

/** All has ended by then but the log. */
const LAST_LINES_WITHIN_MS = 2_000;

/** Resolves to the exit code, once everything has ended. */
export async function serve({ file, listen, env, stdout, stderr }: ServeOptions): Promise<number> {
  const loaded = await loadWhole(file, { env, listen });
  if (!loaded.ok) {
    stderr.write(problemLines(loaded.problems));
    return 1;
  }
  stderr.write(problemLines(loaded.warnings));
  const { config } = loaded;
  const logger = createLogger({ level: config.gateway.log.level, secrets: config.secrets });
  const gateway = await createGateway({ config, version: await readVersion(), logger });
  const files = watchFiles({ onChange: reload });
  const told = untilToldToEnd(gateway, { logger, reload });
  await files.follow(loaded.files);
  try {
    const addresses = await gateway.start();
    stdout.write(welcome(config, addresses));
    return await told.exitCode;
  } catch (thrown) {
    stderr.write(`portico: cannot start: ${whyNot(thrown)}\n`);
    return 1;
  } finally {
    files.close();
    await gateway.close();
    told.stop();
    // A write to a pipe that nobody reads holds up the end of the process for ever, `process.exit` included (F13).
    if (!(await flushLog(logger, LAST_LINES_WITHIN_MS))) process.kill(process.pid, 'SIGKILL');
  }

  function reload(): void {
    void gateway.reload(async () => {
      const again = await loadWhole(file, { env, listen });
      await files.follow(again.files);
      return again;
    });
  }
}

/** A port that is taken is the usual reason. */
function whyNot(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const isTaken = 'code' in thrown && thrown.code === 'EADDRINUSE';
  return isTaken
    ? `${thrown.message}; another program has this port, choose one with --port (or in gateway.listen) for clients, in ` +
        'gateway.admin for the admin listener, 9090 by default, in gateway.replica.listen for other replicas'
    : thrown.message;
}

/** A terminal signals its whole group, and npm hands on what it gets: one Ctrl-C comes twice. */
const SAME_SIGNAL_MS = 500;

/** The first signal drains, a second one hurries. A failure that nobody caught ends the process too, in order. */
function untilToldToEnd(
  gateway: Gateway,
  { logger, reload }: { logger: Logger; reload: () => void },
): { exitCode: Promise<number>; stop(): void } {
  const { promise: exitCode, resolve } = Promise.withResolvers<number>();
  let told: { readonly by: NodeJS.Signals; readonly at: number } | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    const now = performance.now();
    if (told?.by === signal && now - told.at < SAME_SIGNAL_MS) return;
    const hurried = told !== undefined;
    logger.info({ signal, hurried }, 'told to end');
    if (hurried) gateway.hurry();
    told = { by: signal, at: now };
    resolve(0);
  };
  const onFailure = (error: unknown) => {
    logger.fatal({ err: error }, 'a failure that nobody caught');
    gateway.hurry();
    resolve(1);
  };
  const listeners = [
    ['SIGTERM', onSignal],
    ['SIGINT', onSignal],
    ['SIGHUP', reload],
    ['uncaughtException', onFailure],
  ] as const;
  for (const [event, listener] of listeners) process.on(event, listener);
  const stop = () => {
    for (const [event, listener] of listeners) process.off(event, listener);
  };
  return { exitCode, stop };
}
