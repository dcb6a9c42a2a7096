// docs/metrics.md names every metric of Portico's own with its labels, and none that there is not.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { freePort } from '../support/free-port.ts';
import { startGateway } from '../support/start-gateway.ts';

test('docs/metrics.md and a scrape have the same metrics', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'portico-metrics-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const audit = {
    path: join(folder, 'audit.jsonl'),
    key: undefined,
    arguments: 'digest',
    onFailure: 'refuse',
    maxBytes: 0,
  } as const;
  // Nobody is there: what is counted of replicas is the same.
  const redis = { url: `redis://127.0.0.1:${await freePort()}`, keyPrefix: 'x:', timeoutMs: 100 };
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const replica = { listen: { host: '127.0.0.1', port }, url, secret: 'x'.repeat(32) };
  const gateway = await startGateway({ stdio: {}, gateway: { audit, redis, replica } });
  t.after(() => gateway.close());
  const scrape = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
  const document = await readFile(new URL('../../docs/metrics.md', import.meta.url), 'utf8');
  const pairs = (text: string, pattern: RegExp) =>
    [...text.matchAll(pattern)].map(([, name, type]) => `${name} ${type}`).sort();
  assert.deepEqual(
    pairs(document, /^\| `((?:portico|mcp)_\w+)` +\| (\w+) +\|/gm),
    pairs(scrape, /^# TYPE ((?:portico|mcp)_\w+) (\w+)$/gm),
  );
});
