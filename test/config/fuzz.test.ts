// Whatever a file holds, loading it ends with a config or with problems that stand somewhere in the file.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Config } from '../../src/config/config.ts';
import { loadConfig } from '../../src/config/load.ts';
import { parseSource } from '../../src/config/parse-source.ts';
import { plainValue } from '../../src/config/source-tree.ts';
import { writeConfig } from './written-config.ts';

const SOUND = `# a sound file
mcpServers:
  a: { command: node, args: ["\${A:-x}", b], env: { K: "\${SECRET}" }, queue: &q { max: 5, timeout: 1s } }
  b:
    url: https://b.example/mcp
    headers: { Authorization: "Bearer \${SECRET}" }
    queue: *q
gateway:
  listen: { host: 127.0.0.1, port: 8080 }
  admin: false
  origins: [https://x.example]
  sessions: { maxAge: 1h, replay: { bytes: 1mb } }
`;
const SECRET = 'canary-3c1e';
const SPLINTERS = [
  '{',
  '}',
  '[',
  ']',
  ':',
  ' ',
  '\n',
  '"',
  "'",
  '#',
  '&',
  '*q',
  '!t',
  '$',
  `\${`,
  '}',
  '-',
  '\t',
  '|',
  '0',
  '<<: ',
  ',',
  'null',
  '//',
  '/*',
  '\u0000',
  '\ufeff',
  '🙂',
  '__proto__: ',
];

test('a sound file with splinters in it never breaks the loader, nor gives a secret away', async (t) => {
  const { file } = await writeConfig(t, '');
  const edit = fc.tuple(fc.nat(SOUND.length), fc.nat(12), fc.constantFrom(...SPLINTERS));
  await fc.assert(
    fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 4 }), async (edits) => {
      const text = edits.reduce(
        (edited, [at, removed, splinter]) => edited.slice(0, at) + splinter + edited.slice(at + removed),
        SOUND,
      );
      await writeFile(file, text);
      const loaded = await loadConfig(file, { env: { SECRET } });
      const lines = text.split('\n');
      for (const problem of loaded.ok ? loaded.warnings : loaded.problems) {
        const line = lines[problem.line - 1];
        assert.ok(
          line !== undefined && problem.column <= line.length + 1,
          `${JSON.stringify(problem)} in\n${text}`,
        );
        assert.ok(!`${problem.message} ${problem.hint} ${problem.path}`.includes(SECRET));
        assert.ok(problem.message.length > 0 && problem.message.length < 400);
      }
      if (loaded.ok) assertWhole(loaded.config);
      else assert.ok(loaded.problems.length > 0);
    }),
    { numRuns: 300 },
  );
});

test('JSON means the same here as to JSON.parse', () => {
  const key = fc.string({ maxLength: 20 });
  const json = fc.object({
    key,
    maxDepth: 4,
    values: [fc.string(), fc.integer(), fc.boolean(), fc.constant(null)],
  });
  fc.assert(
    fc.property(json, fc.constantFrom(undefined, 2, '\t'), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      const { root, findings } = parseSource(text);
      assert.deepEqual(findings, []);
      assert.ok(root);
      assert.equal(JSON.stringify(plainValue(root)), JSON.stringify(JSON.parse(text)));
    }),
    { numRuns: 300 },
  );
});

/** No unit is lost and no default is missing. */
function assertWhole({ servers, gateway }: Config): void {
  const numbers = [
    ...servers.flatMap((server) => [
      server.startTimeoutMs,
      server.callTimeoutMs,
      server.maxMessageBytes,
      server.queue.timeoutMs,
    ]),
    ...[
      gateway.bodyLimitBytes,
      gateway.sessions.maxAgeMs,
      gateway.sessions.replay.bytes,
      gateway.lists.ttlMs,
    ],
  ];
  assert.ok(
    numbers.every((number) => Number.isSafeInteger(number) && number >= 0),
    numbers.join(),
  );
}
