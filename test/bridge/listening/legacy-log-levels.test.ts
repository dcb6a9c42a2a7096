// Log levels of modern calls on a link that knows one level for all.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LegacyLogLevels } from '../../../src/bridge/listening/legacy-log-levels.ts';
import type { ClientRequest, ModernRequest } from '../../../src/protocol/client-message.ts';
import type { LogLevel } from '../../../src/protocol/log-levels.ts';
import type { ServerMessage } from '../../../src/servers/transport.ts';
import { scriptedLink } from '../../support/scripted-link.ts';

function asking(logLevel: LogLevel | undefined): ClientRequest {
  const meta = { version: '2026-07-28', clientCapabilities: {}, clientInfo: undefined, logLevel };
  return { era: 'modern', kind: 'request', method: 'tools/call', meta } as unknown as ModernRequest;
}

function line(level: LogLevel): ServerMessage {
  return { jsonrpc: '2.0', method: 'notifications/message', params: { level, data: level } };
}

function rig(capabilities?: Parameters<typeof scriptedLink>[0]) {
  const { link, wire } = scriptedLink(capabilities);
  const levels = new LegacyLogLevels(link);
  const heard: ServerMessage[] = [];
  const deliver = (message: ServerMessage) => heard.push(message);
  const enter = async (level: LogLevel | undefined) => {
    const before = wire.calls.length;
    const entering = levels.enter(asking(level), deliver);
    await new Promise(setImmediate);
    wire.calls[before]?.answer();
    return entering;
  };
  const set = () => wire.calls.map(({ params }) => params?.level);
  return { levels, heard, deliver, enter, set, wire };
}

test('the link is set to the lowest level that calls in flight ask for', async () => {
  const { enter, set } = rig();
  const warning = await enter('warning');
  await enter('error');
  assert.deepEqual(set(), ['warning'], 'what is set already is not set again');
  await enter('debug');
  assert.deepEqual(set(), ['warning', 'debug']);
  warning.leave();
  await enter('info');
  assert.deepEqual(set(), ['warning', 'debug']);
});

test('when the talkative ones are gone the next one sets its own', async () => {
  const { enter, set } = rig();
  (await enter('debug')).leave();
  await enter('error');
  assert.deepEqual(set(), ['debug', 'error']);
});

test('who asks for no level, or a server that does not log, changes nothing', async () => {
  const without = rig({ capabilities: {} });
  await without.enter('debug');
  assert.deepEqual(without.set(), []);
  const { enter, set, levels, heard } = rig();
  await enter(undefined);
  levels.receive(line('error'), 1);
  assert.deepEqual([set(), heard], [[], []]);
});

test('a server that refuses the level is no reason to fail the call', async () => {
  const { levels, wire, deliver } = rig();
  const entering = levels.enter(asking('debug'), deliver);
  (await wire.nth('logging/setLevel')).refuse(-32603);
  (await entering).leave();
});

test("a line that names no call is a sole caller's, as grave as was asked for", async () => {
  const { enter, levels, heard } = rig();
  const { leave } = await enter('warning');
  for (const level of ['info', 'warning', 'error'] as const) levels.receive(line(level), 1);
  assert.deepEqual(heard, [line('warning'), line('error')]);
  leave();
  levels.receive(line('error'), 1);
  assert.equal(heard.length, 2);
});

test("with others in flight, asking for logs or not, it is nobody's", async () => {
  const { enter, levels, heard } = rig();
  await enter('debug');
  levels.receive(line('error'), 2);
  await enter('debug');
  levels.receive(line('error'), 2);
  assert.deepEqual(heard, []);
});

test('other notifications are no log lines', async () => {
  const { enter, levels, heard } = rig();
  await enter('debug');
  levels.receive({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' }, 1);
  assert.deepEqual(heard, []);
});
