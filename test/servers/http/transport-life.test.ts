import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { TransportLife } from '../../../src/servers/http/transport-life.ts';
import { createLogger } from '../../../src/telemetry/logger.ts';
import { httpServerConfig } from '../../support/http-server-config.ts';

test('the end waits for all that is under way, and for nothing where nothing is', async () => {
  const logger = createLogger({ level: 'silent', secrets: [] });
  const events = { onUnsolicited() {}, onClosed() {} };
  const life = new TransportLife(httpServerConfig('http://127.0.0.1:1'), { events, logger });
  await life.settled();
  const first = life.hold();
  const second = Promise.withResolvers<void>();
  life.track(second.promise);
  const settled: string[] = [];
  const waiting = ['one', 'other'].map((name) => life.settled().then(() => settled.push(name)));
  first();
  await turn();
  assert.deepEqual(settled, []);
  second.resolve();
  await Promise.all(waiting);
  assert.deepEqual(settled, ['one', 'other']);
  await life.settled();
});
