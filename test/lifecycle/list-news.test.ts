// Word of changed lists between replicas: published once, told once, and never passed on.
import assert from 'node:assert/strict';
import { mock, type TestContext, test } from 'node:test';
import { type ListChanged, ListNews } from '../../src/lifecycle/list-news.ts';
import type { ReplicaEvent } from '../../src/replicas/replicas.ts';
import type { Server } from '../../src/servers/server.ts';

const TOOLS = 'notifications/tools/list_changed';
const CHANGED: ListChanged = { kind: 'list-changed', server: 'docs', method: TOOLS, person: undefined };
const HERS: ListChanged = { ...CHANGED, person: '["i","ann","app"]' };

function rig(t: TestContext, { personal = false } = {}) {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.after(() => mock.timers.reset());
  const published: ReplicaEvent[] = [];
  const told: unknown[][] = [];
  const server = {
    slug: 'docs',
    personal,
    links: ['a link'],
    announce: ({ method }: { method: string }, person?: string) => told.push(['server', method, person]),
  } as unknown as Server;
  const news = new ListNews({
    replicas: { publish: (event) => published.push(event) },
    catalogue: {
      noteListChanged: (link: unknown, method) => told.push(['links', link, method]),
      tell: ({ slug }, method, person) => told.push(['catalogue', slug, method, person]),
    },
    hubs: {
      announce: ({ method }, isTheirs) =>
        told.push([
          'hubs',
          method,
          isTheirs('docs principal ["i","ann","app"] {}'),
          isTheirs('docs principal ["i","ann","app2"] {}'),
          isTheirs('other principal ["i","ann","app"] {}'),
        ]),
    },
    timing: { gatherMs: 100, patienceMs: 400 },
  });
  t.after(() => news.close());
  const servers = () => new Map([['docs', server]]);
  return { news, published, told, receive: (event: ListChanged) => news.receive(event, servers) };
}

const READ_ANEW = ['links', 'a link', TOOLS];
const FOR_ALL = [
  ['server', TOOLS, undefined],
  ['catalogue', 'docs', TOOLS, undefined],
];

test('what a server says is published at once, and what it says again and again once in a while', (t) => {
  const { news, published } = rig(t);
  for (let i = 0; i < 5; i += 1) news.publish(CHANGED);
  assert.deepEqual(published, [CHANGED]);
  mock.timers.tick(100);
  assert.deepEqual(published, [CHANGED, CHANGED], 'of the last word too');
  mock.timers.tick(1_000);
  assert.equal(published.length, 2);
  news.publish(CHANGED);
  assert.equal(published.length, 3);
});

test('only lists are spoken of', (t) => {
  const { news, published, told, receive } = rig(t);
  news.publish({ ...CHANGED, method: 'notifications/message' });
  receive({ ...CHANGED, method: 'notifications/message' });
  mock.timers.tick(1_000);
  assert.deepEqual([published, told], [[], []]);
});

test('what another replica has heard is read anew at once, told here after a moment, once, and is not published', (t) => {
  const { published, told, receive } = rig(t);
  receive(CHANGED);
  receive(CHANGED);
  assert.deepEqual(told, [READ_ANEW, READ_ANEW]);
  mock.timers.tick(400);
  assert.deepEqual(told.slice(2), FOR_ALL);
  mock.timers.tick(1_000);
  assert.deepEqual(published, []);
});

test('what the server has said here too, before or soon after, is not told twice', (t) => {
  const { news, told, receive } = rig(t);
  receive(CHANGED);
  news.publish(CHANGED);
  mock.timers.tick(399);
  receive(CHANGED);
  mock.timers.tick(1_000);
  assert.deepEqual(told, [READ_ANEW]);
  receive(CHANGED);
  mock.timers.tick(400);
  assert.deepEqual(told, [READ_ANEW, READ_ANEW, ...FOR_ALL], 'later it is news again');
});

test('what is known here is known for as long after its last word, and of that person alone', (t) => {
  const { news, told, published, receive } = rig(t, { personal: true });
  news.publish(CHANGED);
  mock.timers.tick(300);
  news.publish(CHANGED);
  mock.timers.tick(300);
  receive(CHANGED);
  mock.timers.tick(1_000);
  assert.deepEqual(told, []);
  news.publish(CHANGED);
  news.publish(HERS);
  assert.deepEqual(published.slice(-2), [CHANGED, HERS]);
  mock.timers.tick(1_000);
  news.publish(CHANGED);
  receive(HERS);
  assert.deepEqual(told, [READ_ANEW], 'what all have is another list');
});

test("what one person's own link has said is for that person's listens alone", (t) => {
  const { told, receive } = rig(t);
  receive(HERS);
  mock.timers.tick(400);
  assert.deepEqual(told, [
    ['links', 'a link', TOOLS],
    ['hubs', TOOLS, true, false, false],
  ]);
});

test('where each person has a list of their own, it is for all that the person has open', (t) => {
  const { told, receive } = rig(t, { personal: true });
  receive(HERS);
  mock.timers.tick(400);
  assert.deepEqual(told.slice(2), [
    ['server', TOOLS, HERS.person],
    ['catalogue', 'docs', TOOLS, HERS.person],
  ]);
});

test('a server that is not configured here, and the end of the gateway, leave nothing to tell', (t) => {
  const { news, told, published, receive } = rig(t);
  receive({ ...CHANGED, server: 'gone' });
  mock.timers.tick(400);
  receive(CHANGED);
  news.publish(HERS);
  news.close();
  mock.timers.tick(1_000);
  assert.deepEqual([told, published], [[READ_ANEW], [HERS]]);
});
