// What the status of a probe says about a server's era, and what it does not (F36).
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startFaultyHttpServer } from '../support/faulty-http-server.ts';
import { httpServerConfig } from '../support/http-server-config.ts';
import { openServer } from '../support/server-rig.ts';

describe('a server over HTTP', { concurrency: true }, () => {
  for (const status of [400, 404, 405, 406, 410, 415, 422]) {
    test(`F36: that refuses the probe with a bare ${status} is legacy`, async (t) => {
      const behind = await startFaultyHttpServer({ era: 'legacy' });
      t.after(() => behind.close());
      behind.fault('server/discover', { answer: { status, type: 'text/plain', body: 'no' } });
      const { server } = openServer(t, httpServerConfig(behind.url));
      assert.equal((await server.catalogueLink()).peer.era, 'legacy');
    });
  }

  for (const status of [401, 403, 407, 408, 429, 500, 502, 503]) {
    test(`F36: that answers the probe with ${status} has said nothing about its era`, async (t) => {
      const behind = await startFaultyHttpServer({ era: 'modern' });
      t.after(() => behind.close());
      const answer = { status, type: 'text/plain', body: 'not now' };
      behind.fault('server/discover', { answer }, 1);
      const { server } = openServer(t, httpServerConfig(behind.url));
      await assert.rejects(server.catalogueLink());
      assert.equal(behind.requests('initialize').length, 0, 'it was not taken for legacy');
      assert.equal((await server.catalogueLink()).peer.era, 'modern');
    });
  }

  test('F36: that breaks the connection has said nothing either', async (t) => {
    const behind = await startFaultyHttpServer({ era: 'modern' });
    t.after(() => behind.close());
    // The request is safe to repeat, and is repeated once.
    behind.fault('server/discover', { reset: 'at-once' }, 2);
    const { server } = openServer(t, httpServerConfig(behind.url));
    await assert.rejects(server.catalogueLink());
    assert.equal(behind.requests('initialize').length, 0);
    assert.equal((await server.catalogueLink()).peer.era, 'modern');
  });

  test('F36: that was found to be legacy is asked again after a day, and not before', async (t) => {
    const behind = await startFaultyHttpServer({ era: 'both' });
    t.after(() => behind.close());
    const answer = { status: 404, type: 'text/plain', body: 'no' };
    const update = behind.fault('server/discover', { answer });
    let now = 5_000;
    const { server } = openServer(t, httpServerConfig(behind.url), { now: () => now });
    const eraOf = async (key: string) => {
      const terms = { key, owner: key, pinned: false, clientCapabilities: {} };
      return (await server.ownLink(terms)).peer.era;
    };
    assert.equal(await eraOf('first'), 'legacy');
    update();
    now += 24 * 3_600_000 - 1;
    assert.equal(await eraOf('second'), 'legacy');
    assert.equal(behind.requests('server/discover').length, 1);
    now += 1;
    assert.equal(await eraOf('third'), 'modern');
    now += 1_000 * 24 * 3_600_000;
    assert.equal(await eraOf('fourth'), 'modern');
  });

  test('F36: that refuses with a modern error in the body of a 400 is modern', async (t) => {
    const behind = await startFaultyHttpServer({ era: 'modern' });
    t.after(() => behind.close());
    const error = { code: -32022, message: 'version', data: { supported: ['2026-07-28'], requested: 'x' } };
    const body = JSON.stringify({ jsonrpc: '2.0', id: null, error });
    behind.fault('server/discover', { answer: { status: 400, type: 'application/json', body } }, 1);
    const { server } = openServer(t, httpServerConfig(behind.url));
    assert.equal((await server.catalogueLink()).peer.era, 'modern');
  });
});
