// What has to hold between every client and every server, feature by feature: the cases of eras.test.ts.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { EraFeature } from '../support/era-features.ts';
import { eventually } from '../support/eventually.ts';
import { onEachReplica, PROCESSES } from '../support/replicas-wanted.ts';
import { MODEL_WORD, USER_NAME } from '../support/sdk-client-answers.ts';
import type { ClientKind, SdkClient } from '../support/sdk-clients.ts';
import {
  greeting,
  linesFrom,
  noteText,
  OWN_META,
  PROMPT_PAGES,
  SIGN_UP_URL,
  TOOL_NAMES,
  WELCOME,
} from '../support/sdk-features.ts';

const LIST_CHANGED = 'notifications/tools/list_changed';
const UPDATED = 'notifications/resources/updated';
const LOGGED = 'notifications/message';

export interface Combination {
  readonly kind: ClientKind;
  /** The server's. */
  readonly era: 'legacy' | 'modern';
}

/** The cells of docs/eras.md that a test was made for, as `feature: combination`. */
export const testedCells = new Set<string>();

/** Makes tests of features for one combination. */
export function featuresOf({ kind, era }: Combination) {
  const client = kind === 'v2 modern' ? 'modern' : 'legacy';
  return (name: EraFeature, title: string, run: () => Promise<void>): void => {
    testedCells.add(`${name}: ${client} client, ${era} server`);
    test(`${name}: ${title}`, run);
  };
}

export function testWhatServersHave(clientOf: () => SdkClient, combination: Combination): void {
  const { kind, era } = combination;
  const feature = featuresOf(combination);

  feature('introduction', 'the server is introduced as what it is', async () => {
    const { serverName, instructions, serverCapabilities } = clientOf();
    assert.equal(serverName, era === 'legacy' ? 'sdk-v1' : 'sdk-v2');
    assert.equal(instructions, `A ${era} server.`);
    const { resources, logging, completions } = serverCapabilities ?? {};
    assert.deepEqual(
      { resources, logging, completions },
      { resources: { subscribe: true, listChanged: true }, logging: {}, completions: {} },
    );
  });

  feature('tools', 'listed under their own names', async () => {
    assert.deepEqual((await clientOf().listTools()).toSorted(), TOOL_NAMES);
  });

  feature('tools', 'called, with their content, structured content too', async () => {
    const text = 'ünïcode 🌍, a "quote" and\na line';
    assert.equal((await clientOf().call('echo', { text })).text, text);
    const sum = await clientOf().call('add', { a: 2, b: 3 });
    assert.equal(sum.text, '5');
    assert.deepEqual(sum.structuredContent, { sum: 5 });
  });

  feature('resources and templates', 'listed and read, one by its template', async () => {
    const client = clientOf();
    assert.deepEqual(await client.listResources(), [WELCOME.uri]);
    assert.deepEqual(await client.listTemplates(), ['note://{name}']);
    assert.equal(await client.readText(WELCOME.uri), WELCOME.text);
    assert.equal(await client.readText('note://shopping'), noteText('shopping'));
  });

  feature('prompts', 'filled in with their arguments', async () => {
    assert.equal(await clientOf().promptText('greet', { name: 'Ada' }), greeting('Ada'));
  });

  feature('completion', 'of prompts and templates, with what was chosen before', async () => {
    const client = clientOf();
    const prompt = { type: 'ref/prompt' as const, name: 'greet' };
    const argument = { name: 'name', value: 'A' };
    assert.deepEqual(await client.complete({ ref: prompt, argument }), ['Ada', 'Alan']);
    const context = { arguments: { style: 'formal' } };
    const formal = { ref: prompt, argument: { name: 'name', value: 'Dr. G' }, context };
    assert.deepEqual(await client.complete(formal), ['Dr. Grace']);
    const template = { type: 'ref/resource' as const, uri: 'note://{name}' };
    assert.deepEqual(await client.complete({ ref: template, argument }), ['Ada', 'Alan']);
  });

  feature(
    'pagination',
    "each page by the cursor of the one before, which is not the server's own",
    async () => {
      const names: unknown[] = [];
      let cursor: unknown;
      do {
        const page = await clientOf().ask('prompts/list', cursor === undefined ? {} : { cursor });
        names.push(...(page.prompts as { name: string }[]).map(({ name }) => name));
        cursor = page.nextCursor;
        assert.ok(cursor === undefined || String(cursor).length > 10, `unsealed: ${cursor}`);
      } while (cursor !== undefined);
      assert.deepEqual(names, PROMPT_PAGES);
      await assert.rejects(clientOf().ask('prompts/list', { cursor: '1' }), { code: -32602 });
    },
  );

  feature('caching hints', 'on cacheable results, for modern clients only', async () => {
    const client = clientOf();
    const hinted = kind === 'v2 modern';
    for (const [method, params] of [
      ['tools/list', {}],
      ['prompts/list', {}],
      ['resources/list', {}],
      ['resources/templates/list', {}],
      ['resources/read', { uri: WELCOME.uri }],
    ] as const) {
      const { ttlMs, cacheScope } = await client.ask(method, params);
      assert.equal(typeof ttlMs, hinted ? 'number' : 'undefined', method);
      assert.equal(cacheScope, hinted ? 'private' : undefined, method);
    }
    const { result } = await client.call('echo', { text: '' });
    assert.ok(!('ttlMs' in result) && !('cacheScope' in result));
  });

  feature('`_meta` and unknown fields', 'pass in both directions', async () => {
    const client = clientOf();
    const { text, result } = await client.call('mirror', {}, { meta: { [OWN_META]: 'of the call' } });
    assert.equal(JSON.parse(text ?? '')[OWN_META], 'of the call');
    assert.equal((result._meta as Record<string, unknown>)[OWN_META], 'of the result');
    assert.deepEqual(result['x-own'], { kept: true });
    const { tools } = await client.ask('tools/list');
    const mirror = (tools as { name: string; _meta?: object }[]).find(({ name }) => name === 'mirror');
    assert.deepEqual(mirror?._meta, { [OWN_META]: 'of the tool' });
  });

  feature('errors', 'of a tool as its result, of the protocol in the terms of the client', async () => {
    const client = clientOf();
    const failed = await client.call('fail');
    assert.equal(failed.isError, true);
    assert.match(failed.text ?? '', /failed as told/);
    await assert.rejects(client.call('no_such_tool'), { code: -32602 });
    // SDK v1 servers do not say by their error which resource it is that they lack; SDK v2 clients read both codes as one.
    const code = kind === 'v1' && era === 'modern' ? -32002 : -32602;
    await assert.rejects(client.readText('other://thing'), { code });
  });
}

export function testCallsAndNotices(clientOf: () => SdkClient, combination: Combination): void {
  const { kind, era } = combination;
  const feature = featuresOf(combination);

  feature('progress', 'reaches the caller, in order', async () => {
    const seen: unknown[] = [];
    const onprogress = ({ progress, total }: { progress: number; total?: number | undefined }) => {
      seen.push([progress, total]);
    };
    const answer = await clientOf().call('count', { to: 3 }, { onprogress });
    assert.equal(answer.text, 'counted to 3');
    assert.deepEqual(seen, [
      [1, 3],
      [2, 3],
      [3, 3],
    ]);
  });

  feature('cancellation', 'reaches the server (F26)', async () => {
    const tag = randomUUID();
    const aborter = new AbortController();
    const { signal } = aborter;
    await assert.rejects(clientOf().call('wait', { tag }, { signal, onprogress: () => aborter.abort() }));
    assert.equal((await clientOf().call('was_cancelled', { tag })).text, 'true');
  });

  feature('logging', 'from the level on that the client asked for', async () => {
    const client = clientOf();
    const { notifications } = client;
    // Who has not said a level hears what the server chooses; in the new era, nothing.
    await client.call('log');
    const unasked = kind !== 'v2 modern' && era === 'legacy' ? linesFrom('debug') : [];
    const heard = [...unasked];
    for (const level of ['warning', 'debug'] as const) {
      await client.setLogLevel(level);
      await client.call('log');
      heard.push(...linesFrom(level));
    }
    await notifications.nth(LOGGED, heard.length);
    const lines = notifications
      .of(LOGGED)
      .map(({ params }) => ({ level: params?.level, data: params?.data }));
    assert.deepEqual(lines, heard);
  });

  feature('list changes', 'a tool that comes and goes while the client is there', async () => {
    const client = clientOf();
    const name = `extra_${kind.replace(' ', '_')}`;
    const watching = await client.watch(WELCOME.uri);
    const { notifications } = client;
    const before = notifications.of(LIST_CHANGED).length;
    await client.call('add_tool', { name });
    await notifications.nth(LIST_CHANGED, before + 1);
    assert.ok((await client.listTools()).includes(name));
    assert.equal((await client.call(name)).text, `I am ${name}`);
    await client.call('remove_tool', { name });
    await notifications.nth(LIST_CHANGED, before + 2);
    assert.ok(!(await client.listTools()).includes(name));
    await watching.stop();
  });

  feature('resource updates', 'of what the client subscribed to, and nothing else', async () => {
    const client = clientOf();
    const watching = await client.watch(WELCOME.uri);
    // A session has all on one replica; else each may have a child of its own, and one of them is watched.
    const touch = async (uri: string) => {
      const touched = () => client.call('touch', { uri });
      await (client.modern ? onEachReplica(touched) : touched());
    };
    await touch('note://other');
    await touch(WELCOME.uri);
    await client.notifications.nth(UPDATED, 1);
    await watching.stop();
    const told = client.notifications.of(UPDATED);
    assert.ok(told.length <= (client.modern ? PROCESSES : 1));
    assert.ok(told.every(({ params }) => params?.uri === WELCOME.uri));
    await touch(WELCOME.uri);
    assert.equal(client.notifications.of(UPDATED).length, told.length);
  });
}

export function testQuestions(clientOf: () => SdkClient, combination: Combination): void {
  const { era } = combination;
  const feature = featuresOf(combination);

  feature('elicitation, form', 'filled in by the client', async () => {
    assert.equal((await clientOf().call('ask_name')).text, `Hello, ${USER_NAME}!`);
  });

  feature('elicitation, url', 'visited, with an id in the old era alone', async () => {
    const client = clientOf();
    assert.equal((await client.call('visit')).text, 'accept');
    const { params } = client.questions.all.at(-1) ?? {};
    assert.deepEqual([params?.mode, params?.url], ['url', SIGN_UP_URL]);
    assert.equal(typeof params?.elicitationId, client.modern ? 'undefined' : 'string');
    // What tells that it was done belongs to the old era, and only its servers say it.
    const completed = !client.modern && era === 'legacy' ? 1 : 0;
    const heard = () => client.notifications.of('notifications/elicitation/complete').length;
    // It may come on another stream than the answer, and after it.
    await eventually('the end of the visit is told', () => heard() >= completed);
    assert.equal(heard(), completed);
  });

  feature('sampling', "answered by the client's model", async () => {
    assert.equal((await clientOf().call('ask_model')).text, MODEL_WORD);
  });

  feature('sampling with tools', 'where the client declared it', async () => {
    assert.equal((await clientOf().call('ask_with_tools')).text, 'use weather');
  });

  feature('several rounds', 'one question after another, and two at once', async () => {
    assert.equal((await clientOf().call('ask_twice')).text, `${USER_NAME} likes green`);
    assert.equal((await clientOf().call('ask_both')).text, `${USER_NAME}: ${MODEL_WORD}`);
  });
}
