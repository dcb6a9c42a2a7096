// The heap of new objects stays small however Portico is started: see docs/operations.md, "Memory".
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';

const FLAG = '--max-semi-space-size=16';
const START: readonly (readonly [file: string, command: string])[] = [
  ['package.json', `"start": "exec node ${FLAG} src/main.ts"`],
  ['Dockerfile', `"node", "${FLAG}", "/app/dist/main.js"]`],
  ['src/main.ts', `#!/usr/bin/env -S node ${FLAG}\n`],
  ['docs/operations.md', `\`${FLAG}\``],
];

for (const [file, command] of START) {
  test(`${file} starts Portico with a bound on the heap of new objects`, async () => {
    const text = await readFile(new URL(`../${file}`, import.meta.url), 'utf8');
    assert.ok(text.includes(command), `${file} lacks ${command}`);
  });
}
