// Calls of what a caller may not know of are answered to the byte like calls of what does not exist, and reach no
// server; what conditions refuse says so.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AccessRig, keyOf, type RuleText, startAccessRig } from '../support/access-rig.ts';
import type { LibraryEra } from '../support/library-shelves.ts';
import type { Members } from '../support/raw-client.ts';
import { ModernClient, requestText } from '../support/raw-session.ts';
import { PROCESSES } from '../support/replicas-wanted.ts';
import { NEVER_ISSUED } from '../support/session-requests.ts';

/** By refusal in spite of a grant, and by no grant. */
const POLICIES: Readonly<Record<string, Readonly<Record<string, RuleText>>>> = {
  denied: {
    all: {
      allow: ['library'],
      deny: ['library/delete_*', 'library/prompts/plan_*', 'library/resources/file:///srv/secret/**'],
    },
  },
  'not granted': {
    some: { allow: ['library/read_*', 'library/prompts/greet', 'library/resources/file:///srv/public/**'] },
  },
};

interface Comparison {
  readonly method: string;
  readonly member: 'name' | 'uri';
  readonly hidden: string;
  readonly absent: string;
  readonly text: string;
}

const COMPARISONS: readonly Comparison[] = [
  { method: 'tools/call', member: 'name', hidden: 'delete_all', absent: 'delxte_all', text: 'Unknown tool' },
  {
    method: 'prompts/get',
    member: 'name',
    hidden: 'plan_heist',
    absent: 'plxn_heist',
    text: 'Unknown prompt',
  },
  {
    method: 'resources/read',
    member: 'uri',
    hidden: 'file:///srv/secret/plan.txt',
    absent: 'file:///srv/public/plxn.txt',
    text: 'Resource not found',
  },
];

interface Said {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: string;
}

for (const [policy, rules] of Object.entries(POLICIES)) {
  for (const era of ['modern', 'legacy'] as const) {
    for (const client of ['modern', 'legacy'] as const) {
      test(`${policy}: to a ${client} client a ${era} server's hidden things are absent, to the byte`, async (t) => {
        const rig = await startAccessRig(t, { era, rules });
        const say = await speaker(rig, client);
        for (const { method, member, hidden, absent, text } of COMPARISONS) {
          for (const accept of [
            'application/json, text/event-stream',
            'text/event-stream, application/json',
            'application/json',
          ]) {
            const one = await say(method, { [member]: hidden }, accept);
            const other = await say(method, { [member]: absent }, accept);
            const plain = (body: string) =>
              body
                .replaceAll(hidden, '?')
                .replaceAll(absent, '?')
                .replaceAll(/^id: .*$/gm, 'id');
            assert.deepEqual({ ...one, body: plain(one.body) }, { ...other, body: plain(other.body) });
            assert.match(one.body, new RegExp(text));
            assert.equal(one.status, 200);
          }
          assert.ok(!rig.library.wasAsked(method, hidden), `${method} of what is hidden went no further`);
        }
      });
    }
  }
}

test('hidden and absent cost a server the same, so that no clock tells them apart', async (t) => {
  const rig = await startAccessRig(t, { era: 'modern', rules: POLICIES.denied ?? {} });
  const ann = rig.modern('ann');
  const upstream = async (method: string, params: Members) => {
    const before = rig.library.asked.length;
    await ann.ask(method, params);
    return rig.library.asked.length - before;
  };
  for (const { method, member, hidden, absent } of COMPARISONS) {
    for (let process = 0; process < PROCESSES; process += 1) await upstream(method, { [member]: absent });
    const ofHidden = await upstream(method, { [member]: hidden });
    assert.equal(ofHidden, await upstream(method, { [member]: absent }), method);
  }
});

test('a server that is down is down for hidden things too', async (t) => {
  const rig = await startAccessRig(t, { era: 'modern', rules: POLICIES.denied ?? {} });
  const ann = rig.modern('ann');
  await ann.ask('tools/list');
  await rig.library[Symbol.asyncDispose]();
  const { error: ofHidden } = await ann.ask('resources/read', { uri: 'file:///srv/secret/plan.txt' });
  const { error: ofAbsent } = await ann.ask('resources/read', { uri: 'file:///srv/public/plxn.txt' });
  assert.equal(ofAbsent?.code, 5020);
  assert.deepEqual(ofHidden, ofAbsent);
  await rig.library.listen();
});

const SPELLINGS = [
  'file:///srv/secret/plan.txt',
  'FILE:///srv/secret/plan.txt',
  'file:///srv/%73ecret/plan.txt',
  'file:///srv/%2573ecret/plan.txt',
  'file:///srv/secret%2Fplan.txt',
  'file:///srv%2fsecret%2fplan.txt',
  'file:///srv//secret/plan.txt',
  'file:///srv/secret\\plan.txt',
  'file:/srv/secret/plan.txt',
  'file://localhost/srv/secret/plan.txt',
  'file:///srv/secret/plan.txt?x',
  'file:///srv/secret/plan.txt#x',
  'file:///srv/public/../secret/plan.txt',
  'file:///srv/public/%2e%2e/secret/plan.txt',
  'file:///srv/public/..%2fsecret/plan.txt',
  'file:///srv/public/%252e%252e%252fsecret/plan.txt',
  'file:///srv/public/.%09./secret/plan.txt',
  'file:///srv/public/..\\secret/plan.txt',
];

for (const [policy, rules] of Object.entries(POLICIES)) {
  for (const era of ['modern', 'legacy'] as const) {
    test(`${policy}: no spelling of a URI reads what is hidden at a ${era} server`, async (t) => {
      const rig = await startAccessRig(t, { era, rules });
      for (const client of ['modern', 'legacy'] as const) {
        const ann = await rig.asks('ann', client);
        for (const uri of SPELLINGS) {
          const answer = await ann.ask('resources/read', { uri });
          assert.deepEqual(answer.error?.data, { uri }, uri);
          assert.equal(answer.error?.message, 'Resource not found', uri);
        }
        const { result } = await ann.ask('resources/read', { uri: 'file:///srv/public/b%20c.txt' });
        assert.match(JSON.stringify(result), /public b/);
      }
      assert.ok(!rig.library.wasAsked('resources/read', 'plan.txt'));
    });
  }
}

test('a subscription to what is hidden is one to what is absent', async (t) => {
  const rig = await startAccessRig(t, { era: 'legacy', rules: POLICIES['not granted'] ?? {} });
  const session = await rig.legacy('ann');
  for (const method of ['resources/subscribe', 'resources/unsubscribe']) {
    const hidden = await session.ask(method, { uri: 'file:///srv/secret/plan.txt' });
    const absent = await session.ask(method, { uri: 'file:///srv/secret/plxn.txt' });
    assert.equal(hidden.error?.message, 'Resource not found');
    assert.deepEqual({ ...hidden.error, data: 0 }, { ...absent.error, data: 0 });
    assert.ok(!rig.library.wasAsked(method));
    assert.deepEqual((await session.ask(method, { uri: 'file:///srv/public/a.txt' })).result, {});
  }
});

const MALFORMED: readonly Members[] = [
  {},
  { name: 7 },
  { name: null },
  { name: ['read_book'] },
  { name: { a: 1 } },
];

test('a name that is none is the name of nothing', async (t) => {
  const rig = await startAccessRig(t, { era: 'legacy', rules: POLICIES['not granted'] ?? {} });
  const session = await rig.legacy('ann');
  for (const params of MALFORMED) {
    assert.equal((await session.ask('tools/call', params)).error?.code, -32602);
    const uri = params.name;
    assert.equal((await session.ask('resources/read', uri === undefined ? {} : { uri })).error?.code, -32002);
  }
  assert.ok(!rig.library.wasAsked('resources/read') && !rig.library.wasAsked('tools/call'));
});

for (const client of ['modern', 'legacy'] as const) {
  test(`whom no rule concerns finds no view as a ${client} client, known name or not`, async (t) => {
    const rig = await startAccessRig(t, {
      era: 'legacy',
      rules: { readers: { when: { groups: ['readers'] }, allow: ['library'] } },
    });
    const cal = rig.modern('cal');
    const told: unknown[] = [];
    for (const path of ['', '/library', '/nowhere']) {
      const url = `${rig.gateway.url}${path}`;
      const answer =
        client === 'modern'
          ? await cal.start('tools/list', {}, { url }).answer
          : await cal.send({
              url,
              body: requestText('1', 'initialize', { protocolVersion: '2025-11-25', capabilities: {} }),
            });
      told.push([answer.status, await answer.text(), Object.keys(answer.headers).sort()]);
    }
    assert.equal((told[0] as unknown[])[0], 404);
    assert.match(String((told[0] as unknown[])[1]), /"code":4041/);
    assert.deepEqual(told[1], told[0]);
    assert.deepEqual(told[2], told[0]);
    const stream = await cal.send({
      url: rig.view,
      method: 'GET',
      headers: { 'mcp-session-id': NEVER_ISSUED },
    });
    assert.equal(stream.status, 404);
    assert.match(await stream.text(), /"code":4041/);
  });
}

test('sign-in without rules grants nothing at all', async (t) => {
  const rig = await startAccessRig(t, { era: 'modern', rules: {}, gateway: { access: undefined } });
  const { error } = await rig.modern('ann').ask('tools/list');
  assert.equal(error?.code, 4041);
});

const CONDITIONS: readonly (readonly [args: Members, code: number | undefined, reason: string])[] = [
  [{ region: 'eu' }, undefined, ''],
  [{ region: 'us' }, 4031, 'condition'],
  [{}, 4031, 'condition_failed'],
  [{ region: 'eu', text: 'x'.repeat(100_000) }, undefined, ''],
  [{ region: 'x'.repeat(100_000) }, 4031, 'condition_failed'],
];

for (const era of ['modern', 'legacy'] as const) {
  for (const client of ['modern', 'legacy'] as const) {
    test(`a condition decides at the call: ${client} client, ${era} server`, async (t) => {
      const rules = { eu: { allow: ['library/write_*'], if: 'arguments.region == "eu"' } };
      const rig = await startAccessRig(t, { era, rules });
      const ann = await rig.asks('ann', client);
      for (const [args, code, reason] of CONDITIONS) {
        const answer = await ann.ask('tools/call', { name: 'write_book', arguments: args });
        assert.equal(answer.error?.code, code);
        if (code === undefined) continue;
        assert.equal(answer.error?.message, 'A rule refuses this call');
        const line = await rig.gateway.logged((logged) => logged.reason === reason);
        assert.deepEqual([line.rule, line.outcome], ['eu', 'condition-refused']);
      }
      const absent = await ann.ask('tools/call', { name: 'delete_all', arguments: { region: 'us' } });
      assert.equal(absent.error?.code, -32602);
    });
  }
}

test('the log line names the rule that decided', async (t) => {
  const rig = await startAccessRig(t, { era: 'modern', rules: POLICIES.denied ?? {} });
  const ann = rig.modern('ann');
  await ann.ask('tools/call', { name: 'read_book' });
  await ann.ask('tools/call', { name: 'delete_all' });
  const line = (target: string) => rig.gateway.logged((logged) => logged.target === target);
  assert.partialDeepStrictEqual(await line('read_book'), { rule: 'all', outcome: 'ok' });
  assert.partialDeepStrictEqual(await line('delete_all'), {
    rule: 'all',
    outcome: 'target-unknown',
    reason: 'hidden',
  });
});

test('methods of extensions, and tasks, are for callers who may use the whole server', async (t) => {
  const rules = {
    whole: { when: { subjects: ['ben'] }, allow: ['library'] },
    part: { when: { subjects: ['ann'] }, allow: ['library'], deny: ['library/delete_all'] },
  };
  const rig = await startAccessRig(t, { era: 'modern', rules });
  const extension = async (person: string) =>
    (await rig.modern(person, rig.view).ask('com.example/shelves')) as Members;
  assert.deepEqual(((await extension('ben')).result as Members).shelves, ['public', 'secret']);
  const declared = async (person: string) => {
    const capabilities = { extensions: { 'com.example/shelves': {} }, elicitation: { form: {} } };
    await using client = new ModernClient(rig.view, { ...keyOf(person), capabilities });
    await client.ask('tools/call', { name: 'read_book' });
    const meta = rig.library.lastParams('tools/call')?._meta as Members;
    return Object.keys(meta['io.modelcontextprotocol/clientCapabilities'] as Members).sort();
  };
  assert.deepEqual(await declared('ben'), ['elicitation', 'extensions']);
  assert.deepEqual(await declared('ann'), ['elicitation']);
  const refused = (await extension('ann')).error;
  const unknown = (await rig.modern('ben').ask('com.example/shelves')).error;
  assert.deepEqual(refused, unknown);
  assert.equal((refused as Members).code, -32601);
});

test("a legacy server's tasks are for callers who may use all of it", async (t) => {
  const rules = {
    whole: { when: { subjects: ['ben'] }, allow: ['library'] },
    part: { when: { subjects: ['ann'] }, allow: ['library/**'] },
  };
  const rig = await startAccessRig(t, { era: 'legacy', rules });
  const [ann, ben] = [await rig.legacy('ann'), await rig.legacy('ben')];
  assert.deepEqual((await ben.ask('tasks/list')).result?.tasks, []);
  assert.equal((await ann.ask('tasks/list')).error?.code, -32601);
  await ann.tool('read_book');
  const call = { name: 'read_book', task: { ttl: 60_000 } };
  await ann.ask('tools/call', call);
  assert.equal(rig.library.lastParams('tools/call')?.task, undefined, 'the call is made, the task is not');
  await ben.ask('tools/call', call);
  assert.deepEqual(rig.library.lastParams('tools/call')?.task, { ttl: 60_000 });
  await ann.notify('notifications/com.example/hello', {});
  await ben.notify('notifications/com.example/hello', {});
  await ben.ask('ping');
  await ben.tool('read_book');
  const heard = rig.library.asked.filter(({ method }) => method === 'notifications/com.example/hello');
  assert.equal(heard.length, 1);
});

/** Says one thing and hears all of the answer, its way of being sent included. */
async function speaker(rig: AccessRig, client: LibraryEra) {
  const modern = rig.modern('ann');
  const session = client === 'legacy' ? await rig.legacy('ann') : undefined;
  // What the first call of a session opens is there before anything is compared.
  await (session ?? modern).ask('tools/call', { name: 'read_book' });
  return async (method: string, params: Members, accept: string): Promise<Said> => {
    const options = { id: '5', headers: { accept } };
    const { answer } =
      session === undefined ? modern.start(method, params, options) : session.start(method, params, options);
    const heard = await answer;
    const { date: _date, 'content-length': length, ...headers } = heard.headers;
    const names = [
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      length === undefined ? '' : 'length',
    ];
    return { status: heard.status, headers: names.sort(), body: await heard.text() };
  };
}
