// Two people, two groups: what each finds in every list, in either order, in all four combinations of eras; and what a
// filtered list still says.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Asker, type RuleText, startAccessRig } from '../support/access-rig.ts';
import type { LibraryEra } from '../support/library-shelves.ts';
import type { Members, Message } from '../support/raw-client.ts';

const RULES: Readonly<Record<string, RuleText>> = {
  readers: {
    when: { groups: ['readers'] },
    allow: ['library/read_*', 'library/prompts/greet', 'library/resources/file:///srv/public/**'],
  },
  editors: {
    when: { groups: ['editors'] },
    allow: ['library'],
    deny: ['library/delete_all', 'library/resources/file:///srv/secret/**'],
  },
};

const SEEN: Readonly<Record<'ann' | 'ben', Readonly<Record<string, readonly string[]>>>> = {
  ann: {
    'tools/list': ['read_book', 'read_index'],
    'prompts/list': ['greet'],
    'resources/list': ['file:///srv/public/a.txt', 'file:///srv/public/b%20c.txt'],
    'resources/templates/list': ['file:///srv/{shelf}/{book}', 'file:///srv/public/{book}'],
  },
  ben: {
    'tools/list': ['read_book', 'write_book', 'delete_book', 'read_index', 'Read_book', 'slow', 'gossip'],
    'prompts/list': ['greet', 'plan_heist'],
    'resources/list': ['file:///srv/public/a.txt', 'file:///srv/public/b%20c.txt'],
    'resources/templates/list': ['file:///srv/{shelf}/{book}', 'file:///srv/public/{book}'],
  },
};

const MEMBERS: Readonly<Record<string, readonly [list: string, name: string]>> = {
  'tools/list': ['tools', 'name'],
  'prompts/list': ['prompts', 'name'],
  'resources/list': ['resources', 'uri'],
  'resources/templates/list': ['resourceTemplates', 'uriTemplate'],
};

for (const server of ['modern', 'legacy'] as const) {
  for (const client of ['modern', 'legacy'] as const) {
    for (const order of [
      ['ann', 'ben'],
      ['ben', 'ann'],
    ] as const) {
      test(`F32: ${order.join(' then ')}, ${client} clients of a ${server} server, see their own lists`, async (t) => {
        const rig = await startAccessRig(t, { era: server, rules: RULES });
        const askers = { ann: await rig.asks('ann', client), ben: await rig.asks('ben', client) };
        for (let round = 0; round < 2; round += 1) {
          for (const person of order) {
            for (const method of Object.keys(MEMBERS)) {
              const { names, pages } = await readAll(askers[person], method);
              assert.deepEqual(names, SEEN[person][method], `${person}, ${method}`);
              for (const page of pages) assertPrivate(page, client);
            }
          }
        }
      });
    }
  }
}

test('a page may come out empty, and keeps its cursor', async (t) => {
  const rig = await startAccessRig(t, { era: 'legacy', rules: RULES });
  const { pages } = await readAll(rig.modern('ann'), 'tools/list');
  assert.deepEqual(
    pages.map(({ tools, nextCursor }) => [(tools as Members[]).length, typeof nextCursor]),
    [
      [1, 'string'],
      [0, 'string'],
      [1, 'undefined'],
    ],
  );
});

test("F27, F32: one caller's cursor is of no use to another", async (t) => {
  const rig = await startAccessRig(t, { era: 'legacy', rules: RULES });
  const { result } = await rig.modern('ben').ask('tools/list');
  const { error } = await rig.modern('ann').ask('tools/list', { cursor: result?.nextCursor });
  assert.equal(error?.code, -32602);
});

test('a server that calls its lists public is not believed, on reads neither (F32)', async (t) => {
  const rig = await startAccessRig(t, { era: 'modern', rules: RULES });
  for (const person of ['ann', 'ben']) {
    const { result } = await rig.modern(person).ask('resources/read', { uri: 'file:///srv/public/a.txt' });
    assert.equal(result?.cacheScope, 'private');
    assert.equal(result?.ttlMs, 60_000);
  }
  const { result } = await rig.modern('ann').ask('server/discover');
  assert.equal(result?.cacheScope, 'private');
});

const PROMISED: readonly (readonly [
  allow: readonly string[],
  legacy: readonly string[],
  modern: readonly string[],
])[] = [
  [
    ['library'],
    ['completions', 'logging', 'prompts', 'resources', 'tasks', 'tools'],
    ['completions', 'extensions', 'prompts', 'resources', 'tools'],
  ],
  [['library/read_*'], ['logging', 'tools'], ['tools']],
  [['library/prompts/greet'], ['completions', 'logging', 'prompts'], ['completions', 'prompts']],
  [['library/resources/x:**'], ['completions', 'logging', 'resources'], ['completions', 'resources']],
];

for (const [allow, legacy, modern] of PROMISED) {
  test(`with ${allow} of a legacy server a caller is promised what there is to see`, async (t) => {
    const rig = await startAccessRig(t, { era: 'legacy', rules: { all: { allow } } });
    const session = await rig.legacy('ann');
    const { result } = await session.initialize('2025-11-25', {});
    assert.deepEqual(Object.keys(result?.capabilities as Members).sort(), legacy);
  });
  test(`with ${allow} of a modern server a caller is promised what there is to see`, async (t) => {
    const rig = await startAccessRig(t, { era: 'modern', rules: { all: { allow } } });
    const { result } = await rig.modern('ann').ask('server/discover');
    assert.deepEqual(Object.keys(result?.capabilities as Members).sort(), modern);
  });
}

test('what is granted by a condition is listed to all whom the rule concerns', async (t) => {
  const rules = { eu: { allow: ['library/write_book'], if: 'arguments.region == "eu"' } };
  const rig = await startAccessRig(t, { era: 'modern', rules });
  assert.deepEqual((await readAll(rig.modern('cal'), 'tools/list')).names, ['write_book']);
});

test('completions are filtered by the URIs that they lead to', async (t) => {
  const rig = await startAccessRig(t, { era: 'modern', rules: RULES });
  const complete = async (person: string, uri: string, name: string, known: Members = {}) => {
    const ref = { type: 'ref/resource', uri };
    const params = { ref, argument: { name, value: '' }, context: { arguments: known } };
    const { result, error } = await rig.modern(person).ask('completion/complete', params);
    return (result?.completion ?? error) as Members;
  };
  const template = 'file:///srv/{shelf}/{book}';
  assert.deepEqual(await complete('ann', template, 'shelf'), { values: ['public'], hasMore: false });
  assert.deepEqual(await complete('ann', template, 'book', { shelf: 'public' }), {
    values: ['a.txt'],
    hasMore: false,
  });
  assert.deepEqual(await complete('ann', template, 'book', { shelf: 'secret' }), {
    values: [],
    hasMore: false,
  });
  const hidden = await complete('ann', 'file:///srv/secret/{book}', 'book');
  const absent = await complete('ann', 'file:///srv/nowhere/{book}', 'book');
  assert.deepEqual(
    { ...hidden, data: undefined },
    { ...absent, data: undefined },
    'a hidden reference is an absent one',
  );
  assert.equal(hidden.message, 'Resource not found');
});

for (const era of ['modern', 'legacy'] as const) {
  test(`completions of a ${era} server's resources: whatever is not there is not there in the same words`, async (t) => {
    const rig = await startAccessRig(t, { era, rules: RULES });
    for (const client of ['modern', 'legacy'] as const) {
      const ben = await rig.asks('ben', client);
      const told: unknown[] = [];
      for (const uri of [
        'file:///srv/secret/plan.txt',
        'file:///srv/public/none.txt',
        'file:///srv/secret/{book}',
        'file:///srv/none/{book}',
      ]) {
        const ref = { type: 'ref/resource', uri };
        const { error } = await ben.ask('completion/complete', {
          ref,
          argument: { name: 'book', value: '' },
        });
        assert.deepEqual(error?.data, { uri });
        told.push([error?.code, error?.message]);
      }
      for (const one of told) assert.deepEqual(one, told[0]);
    }
  });
}

for (const era of ['modern', 'legacy'] as const) {
  test(`completions of a ${era} server's prompts: a hidden one is an absent one`, async (t) => {
    const rig = await startAccessRig(t, { era, rules: RULES });
    for (const client of ['modern', 'legacy'] as const) {
      const ann = await rig.asks('ann', client);
      const complete = (name: string) =>
        ann.ask('completion/complete', {
          ref: { type: 'ref/prompt', name },
          argument: { name: 'a', value: '' },
        });
      assert.deepEqual((await complete('greet')).result?.completion, {
        values: ['one', 'two'],
        total: 2,
        hasMore: false,
      });
      const { id: _one, ...hidden } = await complete('plan_heist');
      const { id: _other, ...absent } = await complete('no_such_prompt');
      assert.deepEqual(hidden, absent);
      assert.equal(hidden.error?.code, -32602);
      assert.ok(!rig.library.wasAsked('completion/complete', 'plan_heist'));
    }
  });
}

interface AllPages {
  readonly names: readonly unknown[];
  readonly pages: readonly Members[];
}

async function readAll(asker: Asker, method: string): Promise<AllPages> {
  const [list = '', name = ''] = MEMBERS[method] ?? [];
  const pages: Members[] = [];
  let params: Members = {};
  do {
    const { result, error }: Message = await asker.ask(method, params);
    assert.ok(result, JSON.stringify(error));
    pages.push(result);
    params = { cursor: result.nextCursor };
  } while (params.cursor !== undefined);
  return { names: pages.flatMap((page) => page[list] as Members[]).map((entry) => entry[name]), pages };
}

function assertPrivate(page: Members, client: LibraryEra): void {
  assert.equal(page.cacheScope, client === 'modern' ? 'private' : undefined);
}
