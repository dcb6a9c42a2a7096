// One call, at least, of each tool of five real servers, in an order in which each finds what it needs, and what shows
// that the server did it.
import assert from 'node:assert/strict';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { eventually } from './eventually.ts';
import { MODEL_WORD, ROOT_URI, USER_NAME } from './sdk-client-answers.ts';
import type { CallAnswer, Members, SdkClient } from './sdk-clients.ts';

/** By the server's own names. */
export type ToolCalls = Readonly<Record<string, ToolCall | OwnWay>>;

export interface ToolCall {
  readonly args?: Members;
  /** Of the first block, or a part of it. */
  readonly text?: string | RegExp;
  readonly structured?: Members;
  readonly isError?: true;
  check?(answer: CallAnswer): void | Promise<void>;
}

/** A call that is more than one request. */
export type OwnWay = (client: SdkClient, name: string) => Promise<void>;

export async function makeCall(client: SdkClient, name: string, call: ToolCall | OwnWay): Promise<void> {
  if (typeof call === 'function') return call(client, name);
  const answer = await client.call(name, call.args);
  assert.equal(answer.isError, call.isError === true, `${name}: ${answer.text}`);
  if (typeof call.text === 'string') assert.equal(answer.text, call.text, name);
  if (call.text instanceof RegExp) assert.match(answer.text ?? '', call.text, name);
  if (call.structured !== undefined) assert.deepEqual(answer.structuredContent, call.structured, name);
  await call.check?.(answer);
}

type Block = Readonly<Record<string, unknown>> & { readonly type: string };

/** The blocks of that type. */
function blocks({ result }: CallAnswer, type: string): Block[] {
  return ((result.content ?? []) as Block[]).filter((block) => block.type === type);
}

/** Of the first block that holds a resource. */
function embedded(answer: CallAnswer): Members {
  return (blocks(answer, 'resource')[0]?.resource ?? {}) as Members;
}

/**
 * @param research of the tool that takes seconds
 * @param slug under which the URIs of the server are seen
 */
export function everythingCalls(research: Promise<string>, slug: string): ToolCalls {
  return {
    echo: { args: { message: 'hi' }, text: 'Echo: hi' },
    'get-sum': { args: { a: 2, b: 3 }, text: 'The sum of 2 and 3 is 5.' },
    'get-structured-content': {
      args: { location: 'Chicago' },
      structured: { temperature: 36, conditions: 'Light rain / drizzle', humidity: 82 },
    },
    'get-annotated-message': {
      args: { messageType: 'error', includeImage: true },
      check(answer) {
        const annotations = { priority: 1, audience: ['user', 'assistant'] };
        assert.deepEqual(blocks(answer, 'text')[0]?.annotations, annotations);
        assert.equal(blocks(answer, 'image').length, 1);
      },
    },
    'get-env': { check: ({ text = '' }) => assert.equal(JSON.parse(text).FIVE_SERVERS, 'everything') },
    'get-tiny-image': {
      check: (answer) => assert.ok(isPng(String(blocks(answer, 'image')[0]?.data))),
    },
    'get-resource-links': {
      args: { count: 2 },
      check(answer) {
        const uris = blocks(answer, 'resource_link').map(({ uri }) => String(uri));
        assert.equal(uris.length, 2);
        for (const uri of uris) assert.ok(uri.startsWith(`${slug}+demo://resource/dynamic/`), uri);
      },
    },
    'get-resource-reference': {
      args: { resourceType: 'Text', resourceId: 7 },
      check(answer) {
        assert.equal(embedded(answer).uri, `${slug}+demo://resource/dynamic/text/7`);
      },
    },
    'gzip-file-as-resource': {
      args: { name: 'hello.gz', data: 'data:text/plain,hello', outputType: 'resource' },
      check(answer) {
        const bytes = Buffer.from(String(embedded(answer).blob), 'base64');
        assert.equal(gunzipSync(bytes).toString(), 'hello');
      },
    },
    async 'trigger-long-running-operation'(client, name) {
      const steps: number[] = [];
      const onprogress = ({ progress }: { progress: number }) => void steps.push(progress);
      const { text } = await client.call(name, { duration: 0.02, steps: 2 }, { onprogress });
      assert.equal(text, 'Long running operation completed. Duration: 0.02 seconds, Steps: 2.');
      assert.deepEqual(steps, [1, 2]);
    },
    'trigger-elicitation-request': {
      check(answer) {
        const texts = blocks(answer, 'text').map(({ text }) => text);
        assert.ok(texts.join('\n').includes(`Name: ${USER_NAME}`), texts.join('\n'));
      },
    },
    'trigger-url-elicitation': {
      args: { url: 'https://example.com/sign-up' },
      text: /completed.*https:\/\/example\.com\/sign-up/s,
    },
    'trigger-sampling-request': { args: { prompt: 'Say one word.' }, text: new RegExp(MODEL_WORD) },
    'toggle-simulated-logging': { text: /^Started simulated/ },
    'toggle-subscriber-updates': { text: /^Started simulated/ },
    'simulate-research-query': async () => assert.match(await research, /Research Report: fjords/),
  };
}

/** The text of a report that the server only makes as a task: a modern client just calls, a legacy one says so. */
export async function researchAt(client: SdkClient, name: string): Promise<string> {
  const args = { topic: 'fjords' };
  if (client.modern) return (await client.call(name, args)).text ?? '';
  const created = await client.ask('tools/call', { name, arguments: args, task: { ttl: 60_000 } });
  const { taskId } = created.task as { taskId: string };
  const { content } = await client.ask('tasks/result', { taskId });
  return String((content as Block[])[0]?.text);
}

/** @param folder one that the server may use and that nobody else does; it need not exist */
export function filesCalls(folder: string): ToolCalls {
  const plan = join(folder, 'plan.txt');
  const moved = join(folder, 'moved.txt');
  const dot = join(folder, 'dot.png');
  return {
    list_allowed_directories: { text: new RegExp(`^Allowed directories:\n${join(folder, '..')}$`) },
    create_directory: {
      args: { path: folder },
      check: async () => assert.ok((await stat(folder)).isDirectory()),
    },
    write_file: {
      args: { path: plan, content: 'one\ntwo\nthree\n' },
      check: async () => assert.equal(await readFile(plan, 'utf8'), 'one\ntwo\nthree\n'),
    },
    edit_file: {
      args: { path: plan, edits: [{ oldText: 'two', newText: 'zwei' }] },
      check: async () => assert.equal(await readFile(plan, 'utf8'), 'one\nzwei\nthree\n'),
    },
    read_file: { args: { path: plan }, text: 'one\nzwei\nthree\n' },
    read_text_file: { args: { path: plan, head: 2 }, structured: { content: 'one\nzwei' } },
    move_file: {
      args: { source: plan, destination: moved },
      check: async () => assert.equal(await readFile(moved, 'utf8'), 'one\nzwei\nthree\n'),
    },
    read_multiple_files: { args: { paths: [moved, plan] }, text: /zwei.*plan\.txt: Error/s },
    async read_media_file(client, name) {
      const prefix = name.slice(0, -'read_media_file'.length);
      await client.call(`${prefix}write_file`, { path: dot, content: 'not a picture' });
      const [image] = blocks(await client.call(name, { path: dot }), 'image');
      assert.equal(image?.mimeType, 'image/png');
      assert.equal(Buffer.from(String(image?.data), 'base64').toString(), 'not a picture');
    },
    list_directory: { args: { path: folder }, text: /^\[FILE\] dot\.png\n\[FILE\] moved\.txt$/ },
    list_directory_with_sizes: { args: { path: folder }, text: /moved\.txt +15 B.*Total: 2 files/s },
    directory_tree: {
      args: { path: folder },
      check({ text = '' }) {
        const names = (JSON.parse(text) as { name: string }[]).map(({ name }) => name);
        assert.deepEqual(names.sort(), ['dot.png', 'moved.txt']);
      },
    },
    search_files: { args: { path: folder, pattern: '*.txt' }, text: moved },
    get_file_info: { args: { path: moved }, text: /size: 15.*isFile: true/s },
  };
}

/** @param who whose entities they are, so that several clients may share a graph */
export function memoryCalls(who: string): ToolCalls {
  const [ada, engine] = [`Ada of ${who}`, `Engine of ${who}`];
  const entities = [ada, engine].map((name) => ({ name, entityType: 'thing', observations: ['old'] }));
  const relations = [{ from: ada, to: engine, relationType: 'programs' }];
  const kept = [{ name: ada, entityType: 'thing', observations: ['old', 'writes notes'] }];
  return {
    create_entities: { args: { entities }, structured: { entities } },
    create_relations: { args: { relations }, structured: { relations } },
    add_observations: {
      args: { observations: [{ entityName: ada, contents: ['writes notes'] }] },
      structured: { results: [{ entityName: ada, addedObservations: ['writes notes'] }] },
    },
    open_nodes: { args: { names: [ada] }, structured: { entities: kept, relations } },
    delete_relations: { args: { relations }, text: /success/ },
    search_nodes: { args: { query: ada }, structured: { entities: kept, relations: [] } },
    delete_observations: {
      args: { deletions: [{ entityName: engine, observations: ['old'] }] },
      text: /success/,
    },
    async read_graph(client, name) {
      const graph = (await client.call(name)).structuredContent as { entities: Members[] };
      const mine = graph.entities.find((entity) => entity.name === engine);
      assert.deepEqual(mine?.observations, []);
    },
    async delete_entities(client, name) {
      assert.equal((await client.call(name, { entityNames: [ada, engine] })).isError, false);
      const { text = '' } = await client.call(name.replace('delete_entities', 'read_graph'));
      assert.ok(!text.includes(who), text);
    },
  };
}

export const THINKING_CALLS: ToolCalls = {
  sequentialthinking: {
    args: { thought: 'Start at the end.', thoughtNumber: 1, totalThoughts: 2, nextThoughtNeeded: true },
    structured: {
      thoughtNumber: 1,
      totalThoughts: 2,
      nextThoughtNeeded: true,
      branches: [],
      thoughtHistoryLength: 1,
    },
  },
};

/** @param tag names what is cancelled and the tool that comes and goes; of one client alone */
export function sdkServerCalls(tag: string): ToolCalls {
  return {
    echo: { args: { text: 'hi' }, text: 'hi' },
    add: { args: { a: 2, b: 3 }, structured: { sum: 5 } },
    count: { args: { to: 3 }, text: 'counted to 3' },
    async wait(client, name) {
      const cancel = new AbortController();
      const onprogress = () => cancel.abort();
      await assert.rejects(client.call(name, { tag }, { signal: cancel.signal, onprogress }));
    },
    was_cancelled: { args: { tag }, text: 'true' },
    fail: { isError: true, text: 'failed as told' },
    mirror: { check: ({ result }) => assert.deepEqual(result['x-own'], { kept: true }) },
    log: { text: 'logged' },
    async add_tool(client, name) {
      const added = name.replace('add_tool', tag);
      await client.call(name, { name: tag });
      // Word of the change comes by another way than the answer.
      await eventually(`${added} is listed`, async () => (await client.listTools()).includes(added));
      assert.equal((await client.call(added)).text, `I am ${tag}`);
    },
    async remove_tool(client, name) {
      const removed = name.replace('remove_tool', tag);
      await client.call(name, { name: tag });
      await eventually(`${removed} is gone`, async () => !(await client.listTools()).includes(removed));
    },
    touch: { args: { uri: 'note://welcome' }, text: 'touched' },
    ask_name: { text: `Hello, ${USER_NAME}!` },
    ask_model: { text: MODEL_WORD },
    ask_with_tools: { text: 'use weather' },
    ask_roots: { text: ROOT_URI },
    visit: { text: 'accept' },
    ask_twice: { text: `${USER_NAME} likes green` },
    ask_both: { text: `${USER_NAME}: ${MODEL_WORD}` },
  };
}

function isPng(base64: string): boolean {
  return Buffer.from(base64, 'base64').subarray(1, 4).toString() === 'PNG';
}
