// docs/audit.md names every member of a record, and none that there is not.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';

const read = (path: string) => readFile(new URL(`../../../${path}`, import.meta.url), 'utf8');
const words = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, word = '']) => word);

test('docs/audit.md and the code have the same members', async () => {
  const [document, auditor, chain] = await Promise.all([
    read('docs/audit.md'),
    read('src/telemetry/audit/auditor.ts'),
    read('src/telemetry/audit/audit-chain.ts'),
  ]);
  const table = document.slice(document.indexOf('| member'), document.indexOf('## Verify'));
  const documented = table.split('\n').flatMap((row) => words(row.split('|')[1] ?? '', /`([a-zA-Z]+)`/g));
  const written = [
    ...words(auditor, /^ {4,6}([a-zA-Z]+)[:,]/gm).filter(
      (word) => !['kind', 'status', 'suppressed'].includes(word),
    ),
    ...words(chain, /"(seq|prev|hash)":/g),
    'time',
    'arguments',
  ];
  assert.deepEqual([...new Set(documented)].sort(), [...new Set(written)].sort());
});
