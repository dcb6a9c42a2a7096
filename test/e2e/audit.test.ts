// Who did what, on record: every call of either era, every refused sign-in, and nothing where nothing can be written.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { AuditConfig } from '../../src/config/audit-config.ts';
import { verifyAudit } from '../../src/telemetry/audit/verify-audit.ts';
import { type AccessRig, type RuleText, startAccessRig } from '../support/access-rig.ts';
import { eventually } from '../support/eventually.ts';
import { startGateway } from '../support/start-gateway.ts';

const KEY = 'a key that only the operator has';
const RULES: Readonly<Record<string, RuleText>> = {
  readers: { when: { groups: ['readers'] }, allow: ['library'], deny: ['library/delete_all'] },
};

interface AuditedRig {
  readonly path: string;
  readonly rig: AccessRig;
  /** Records of that kind, once there are so many. */
  records(kind: string, count: number): Promise<Record<string, unknown>[]>;
  verified(): Promise<Awaited<ReturnType<typeof verifyAudit>>>;
  readonly text: () => Promise<string>;
}

async function startAudited(t: TestContext, changes: Partial<AuditConfig> = {}): Promise<AuditedRig> {
  const folder = await mkdtemp(join(tmpdir(), 'portico-audit-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'audit.jsonl');
  const audit: AuditConfig = {
    path,
    key: KEY,
    arguments: 'digest',
    onFailure: 'refuse',
    maxBytes: 0,
    ...changes,
  };
  const rig = await startAccessRig(t, { era: 'legacy', rules: RULES, gateway: { audit } });
  const text = () => readFile(path, 'utf8');
  const ofKind = async (kind: string) =>
    (await text())
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter((record) => record.kind === kind);
  return {
    rig,
    path,
    async records(kind, count) {
      await eventually(`${count} records of ${kind}`, async () => (await ofKind(kind)).length >= count);
      return ofKind(kind);
    },
    verified: () => verifyAudit({ files: [path], key: KEY, expectedHead: undefined }),
    text,
  };
}

for (const era of ['modern', 'legacy'] as const) {
  test(`a ${era} client's calls are on record, its lists are not`, async (t) => {
    const { rig, records, verified, text } = await startAudited(t);
    const ann = await rig.asks('ann', era);
    await ann.ask('tools/list', {});
    await ann.ask('tools/call', { name: 'read_book', arguments: { canary: 'canary-of-arguments' } });
    await ann.ask('tools/call', { name: 'delete_all', arguments: {} });
    const [call, hidden] = await records('call', 2);
    const { time, id, totalMs, upstreamMs, answerBytes, arguments: kept, tokenId, session, ip } = call ?? {};
    assert.deepEqual(
      [
        call?.outcome,
        call?.subject,
        call?.era,
        call?.server,
        call?.method,
        call?.target,
        call?.rule,
        call?.isError,
      ],
      ['ok', 'ann', era, 'library', 'tools/call', 'read_book', 'readers', false],
    );
    assert.ok(Date.parse(String(time)) > 0 && String(id).length === 36);
    assert.ok(Number(totalMs) >= Number(upstreamMs) && Number(answerBytes) > 20);
    assert.match(String(kept), /^hmac-sha256:/);
    assert.ok(/^[\w-]{43}$/.test(String(tokenId)) && ip === '127.0.0.1');
    assert.equal(session === undefined, era === 'modern');
    assert.deepEqual([hidden?.outcome, hidden?.reason], ['target-unknown', 'hidden']);
    assert.equal((await verified()).fault, undefined);
    assert.doesNotMatch(await text(), /canary|key-of-ann/);
  });
}

test('each call of an array is on record by itself', async (t) => {
  const { rig, records } = await startAudited(t);
  const ann = await rig.legacy('ann', { version: '2025-03-26' });
  const call = (id: number, name: string) => ({
    ...{ jsonrpc: '2.0', id, method: 'tools/call' },
    params: { name, arguments: { id } },
  });
  const answer = await ann.say([call(1, 'read_book'), call(2, 'delete_all'), call(3, 'read_index')]);
  assert.equal(answer.status, 200);
  const outcomes = (await records('call', 3)).map(
    ({ target, outcome, isError }) => `${target} ${outcome} ${isError}`,
  );
  assert.deepEqual(outcomes.sort(), [
    'delete_all target-unknown undefined',
    'read_book ok false',
    'read_index ok false',
  ]);
});

test('a refused sign-in is on record, with where it came from', async (t) => {
  const { rig, records } = await startAudited(t);
  const nobody = await fetch(rig.gateway.url, { method: 'POST', body: '{}' });
  assert.equal(nobody.status, 401);
  const wrong = { authorization: 'Bearer key-of-nobody-0123456789' };
  await (await fetch(rig.gateway.url, { method: 'POST', body: '{}', headers: wrong })).text();
  const denied = await records('denied', 2);
  assert.deepEqual(
    denied.map(({ outcome, ip, status }) => [outcome, ip, status]),
    [
      ['token-missing', '127.0.0.1', 401],
      ['token-invalid', '127.0.0.1', 401],
    ],
  );
});

test('a flood of refused sign-ins is counted, not written line by line', async (t) => {
  const { rig, records } = await startAudited(t);
  const flood = Array.from({ length: 200 }, () => fetch(rig.gateway.url, { method: 'POST', body: '{}' }));
  for (const answer of await Promise.all(flood)) await answer.text();
  // What was left out is told by the next record that is written.
  await eventually('all are counted', async () => {
    await (await fetch(rig.gateway.url, { method: 'POST', body: '{}' })).text();
    const written = await records('denied', 1);
    return written.reduce((sum, { suppressed }) => sum + 1 + Number(suppressed ?? 0), 0) > 200;
  });
  assert.ok((await records('denied', 1)).length < 200);
});

test('a second gateway does not take the same file', async (t) => {
  const { rig, path } = await startAudited(t);
  const audit = { path, key: KEY, arguments: 'digest', onFailure: 'refuse', maxBytes: 0 } as const;
  const second = startGateway({ servers: [], gateway: { audit } });
  await assert.rejects(second, /writes this audit log/);
  assert.equal((await rig.modern('ann').ask('tools/list', {})).error, undefined);
});
