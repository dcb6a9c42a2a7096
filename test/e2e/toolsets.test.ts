// A toolset is a view of its own: what it names, for whoever may use it, and nothing else.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keyOf, type RuleText, startAccessRig } from '../support/access-rig.ts';
import { httpServerConfig } from '../support/http-server-config.ts';
import { startLibrary } from '../support/library-server.ts';
import { ModernClient, openSession } from '../support/raw-session.ts';
import { startGateway } from '../support/start-gateway.ts';

const RULES: Readonly<Record<string, RuleText>> = {
  readers: { when: { groups: ['readers'] }, allow: ['library/read_*', 'library/write_book'] },
  editors: { when: { groups: ['editors'] }, allow: ['library'] },
};
const TOOLSETS = {
  reading: ['library/read_*', 'library/delete_book', 'library/prompts/greet'],
  writing: ['library/write_book'],
  all: ['*'],
};

const namesOf = (entries: unknown) => (entries as { name: string }[]).map(({ name }) => name);

for (const era of ['modern', 'legacy'] as const) {
  test(`a toolset of a ${era} server shows what it names to those who may see it`, async (t) => {
    const rig = await startAccessRig(t, { era, rules: RULES, gateway: { toolsets: TOOLSETS } });
    const tools = async (person: string, set: string) => {
      const client = rig.modern(person, `${rig.gateway.url}/~${set}`);
      let names: string[] = [];
      let cursor: unknown;
      do {
        const { result } = await client.ask('tools/list', cursor === undefined ? {} : { cursor });
        names = [...names, ...namesOf(result?.tools)];
        cursor = result?.nextCursor;
      } while (cursor !== undefined);
      return names;
    };
    assert.deepEqual(await tools('ann', 'reading'), ['read_book', 'read_index']);
    assert.deepEqual(await tools('ben', 'reading'), ['read_book', 'delete_book', 'read_index']);
    assert.deepEqual(await tools('ben', 'writing'), ['write_book']);
    assert.ok((await tools('ben', 'all')).includes('delete_all'));
  });

  test(`what a toolset of a ${era} server leaves out is answered like what nobody has`, async (t) => {
    const rig = await startAccessRig(t, { era, rules: RULES, gateway: { toolsets: TOOLSETS } });
    const view = `${rig.gateway.url}/~reading`;
    for (const client of [rig.modern('ben', view), await openSession(view, keyOf('ben'))]) {
      const answers = [];
      for (const name of ['write_book', 'no_such_tool']) {
        const { error } = await client.ask('tools/call', { name, arguments: {} });
        answers.push(error);
      }
      assert.equal((answers[0] as { code: number }).code, -32602);
      assert.deepEqual(answers[0], answers[1]);
      const { result } = await client.ask('tools/call', { name: 'read_book', arguments: {} });
      assert.ok(result, 'what is in the set is called');
    }
  });
}

test('a toolset that there is not, and one without anything for the caller, are one 404', async (t) => {
  const rig = await startAccessRig(t, { era: 'modern', rules: RULES, gateway: { toolsets: TOOLSETS } });
  const answers = [];
  for (const [person, set] of [
    ['cal', 'reading'],
    ['ben', 'none'],
    ['cal', 'all'],
  ] as const) {
    answers.push((await rig.modern(person, `${rig.gateway.url}/~${set}`).ask('tools/list', {})).error);
  }
  assert.equal((answers[0] as { code: number }).code, 4041);
  assert.deepEqual(answers[1], answers[0]);
  assert.deepEqual(answers[2], answers[0]);
});

for (const era of ['modern', 'legacy'] as const) {
  test(`a toolset of two servers is one view of both, for a ${era} client`, async (t) => {
    const libraries = [await startLibrary('modern'), await startLibrary('legacy')] as const;
    const gateway = await startGateway({
      servers: libraries.map(({ url }, index) => {
        const slug = index === 0 ? 'new' : 'old';
        return httpServerConfig(url, { slug, name: slug, prefix: slug });
      }),
      gateway: {
        toolsets: { few: ['new/read_book', 'old/write_book', 'old/resources/file:///srv/public/**'] },
      },
    });
    t.after(async () => {
      await gateway.close();
      for (const library of libraries) await library[Symbol.asyncDispose]();
    });
    const view = `${gateway.url}/~few`;
    await using client = era === 'modern' ? new ModernClient(view) : await openSession(view);
    const { result: tools } = await client.ask('tools/list', {});
    assert.deepEqual(namesOf(tools?.tools), ['new__read_book', 'old__write_book']);
    const { result: resources } = await client.ask('resources/list', {});
    const uris = ((resources?.resources ?? []) as { uri: string }[]).map(({ uri }) => uri);
    assert.deepEqual(uris, ['old+file:///srv/public/a.txt', 'old+file:///srv/public/b%20c.txt']);
    const called = await client.ask('tools/call', { name: 'old__write_book', arguments: {} });
    assert.ok(called.result);
    for (const name of ['new__write_book', 'no_such_tool']) {
      const { error } = await client.ask('tools/call', { name, arguments: {} });
      assert.deepEqual(error, { code: -32602, message: 'Unknown tool' });
    }
    const { error } = await client.ask('resources/read', { uri: 'new+file:///srv/public/a.txt' });
    assert.equal((error as { code: number }).code, era === 'modern' ? -32602 : -32002);
  });
}
