import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { adjustLogger, createLogger } from '../../src/telemetry/logger.ts';

const SECRET = 'canary-7d1f0c';

function collected(level = 'trace'): {
  logger: ReturnType<typeof createLogger>;
  lines: () => Record<string, unknown>[];
} {
  const written: string[] = [];
  const logger = createLogger({
    level,
    secrets: [SECRET],
    destination: { write: (line) => written.push(line) },
  });
  return { logger, lines: () => written.map((line) => JSON.parse(line)) };
}

test('F58: a secret is masked wherever it gets into a line, at every level', () => {
  const { logger, lines } = collected();
  const error = Object.assign(new Error(`cannot reach https://user:${SECRET}@host/?key=${SECRET}`), {
    cause: new Error(SECRET),
    request: { headers: { authorization: 'Bearer something-else', 'x-docs': SECRET } },
  });
  for (const level of ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const) {
    logger.child({ bound: SECRET })[level]({ err: error, deep: { er: [SECRET] } }, `message ${SECRET}`);
  }
  const text = JSON.stringify(lines());
  assert.equal(lines().length, 6);
  assert.doesNotMatch(text, /canary|something-else/);
  assert.match(text, /cannot reach https:\/\/\[redacted\]@host/);
});

test('lines below the level are not written', () => {
  const { logger, lines } = collected('warn');
  logger.info('no');
  logger.warn('yes');
  assert.deepEqual(
    lines().map(({ msg }) => msg),
    ['yes'],
  );
});

test('flush waits for a destination that buffers, and asks nothing of one that does not', async () => {
  const flushed: string[] = [];
  const buffering = {
    write: () => {},
    flush(done: () => void) {
      flushed.push('buffering');
      done();
    },
  };
  for (const destination of [buffering, { write: () => {} }]) {
    const logger = createLogger({ level: 'info', secrets: [], destination });
    await new Promise((resolve) => logger.flush(resolve));
  }
  assert.deepEqual(flushed, ['buffering']);
});

test('another level and more secrets reach children that exist already', () => {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const logger = createLogger({ level: 'info', secrets: ['first-secret'], destination });
  const grandchild = logger.child({ server: 'docs' }).child({ pid: 1 });
  grandchild.debug('too much');
  adjustLogger(logger, { level: 'debug', secrets: ['second-secret'] });
  grandchild.debug('first-secret, second-secret');
  logger.debug('and the root');
  adjustLogger(logger, { level: 'silent', secrets: [] });
  grandchild.fatal('nothing');
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).msg),
    ['[redacted], [redacted]', 'and the root'],
  );
});

const ENDINGS: Readonly<Record<string, string>> = {
  'runs to its end': '',
  'exits at once': 'process.exit(3);',
  'dies of an exception': 'throw new Error("uncaught");',
};

for (const [name, ending] of Object.entries(ENDINGS)) {
  test(`buffered lines reach standard error when the process ${name}`, async () => {
    const logger = new URL('../../src/telemetry/logger.ts', import.meta.url).href;
    const program = `
      const { createLogger } = await import(${JSON.stringify(logger)});
      const logger = createLogger({ level: 'info', secrets: [${JSON.stringify(SECRET)}] });
      for (let line = 0; line < 500; line += 1) logger.info({ line }, '${SECRET}');
      ${ending}`;
    const { stderr } = await promisify(execFile)(process.execPath, [
      '--input-type=module',
      '--eval',
      program,
    ]).catch((error: { stderr: string }) => error);
    // Node itself writes of an exception there too.
    const lines = stderr.split('\n').filter((line) => line.startsWith('{'));
    assert.equal(lines.length, 500);
    assert.deepEqual(
      lines.map((line) => JSON.parse(line).line),
      [...lines.keys()],
    );
    assert.ok(lines.every((line) => line.includes('"msg":"[redacted]"')));
  });
}
