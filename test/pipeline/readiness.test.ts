// Whether traffic should come here says nothing of servers, Redis or issuers: they are in the status and the metrics.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { IssuerConfig } from '../../src/config/auth-config.ts';
import { eventually } from '../support/eventually.ts';
import { httpServerConfig } from '../support/http-server-config.ts';
import { startGateway } from '../support/start-gateway.ts';
import { TWO_CALLERS } from '../support/two-callers.ts';

const NOBODY = '127.0.0.1:1';
const ISSUER: IssuerConfig = {
  issuer: `http://${NOBODY}`,
  name: undefined,
  audiences: [],
  jwksUri: undefined,
  algorithms: ['ES256'],
  claims: { groups: 'groups', scopes: 'scope' },
  introspection: undefined,
};

test('F60: with every server, Redis and the issuer down it is ready, and says so where one looks; not while it drains', async (t) => {
  const servers = ['one', 'two'].map((slug) =>
    httpServerConfig(`http://${NOBODY}/mcp`, { slug, name: slug }),
  );
  const gateway = await startGateway({
    servers,
    gateway: {
      auth: { ...TWO_CALLERS, issuers: [ISSUER] },
      redis: { url: `redis://${NOBODY}`, keyPrefix: 'portico:', timeoutMs: 100 },
      drain: { delayMs: 60_000, graceMs: 500 },
    },
  });
  t.after(() => gateway.close());
  const probe = async (path: string) => (await fetch(gateway.adminUrl + path)).status;
  await eventually('both servers are known to be down', async () => {
    const known = Object.values((await gateway.status()).servers);
    return known.length === 2 && known.every(({ lastError }) => lastError !== undefined);
  });
  const { store } = await gateway.status();
  assert.deepEqual(store, { kind: 'redis', available: false });
  const scrape = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
  assert.match(scrape, /^portico_store_available 0$/m);
  assert.deepEqual([await probe('/livez'), await probe('/readyz')], [200, 200]);
  const closing = gateway.close();
  assert.deepEqual([await probe('/livez'), await probe('/readyz')], [200, 503]);
  gateway.hurry();
  await closing;
});
