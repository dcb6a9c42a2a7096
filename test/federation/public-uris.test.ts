import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ownText, ownUri, publicUri } from '../../src/federation/public-uris.ts';

const SLUGS = ['docs', 'a.b', 'x-1'];
const isServer = (slug: string) => SLUGS.includes(slug);

const URIS: readonly [own: string, seen: string][] = [
  ['file:///srv/a.txt', 'docs+file:///srv/a.txt'],
  ['file:///{path}', 'docs+file:///{path}'],
  ['{+uri}', 'docs+{+uri}'],
  ['memo:1+1', 'docs+memo:1+1'],
  ['docs+file:///x', 'docs+docs+file:///x'],
  ['a.b+file:///x', 'docs+a.b+file:///x'],
  ['ui://host/page.html', 'ui://docs+host/page.html'],
  ['UI://host/page.html', 'UI://docs+host/page.html'],
  ['ui://docs+host/page.html', 'ui://docs+docs+host/page.html'],
  ['ui:page', 'docs+ui:page'],
  ['http{s}://x', 'docs+http{s}://x'],
  ['', 'docs+'],
];

for (const [own, seen] of URIS) {
  test(`${own || 'an empty URI'} of docs is ${seen}, and back`, () => {
    assert.equal(publicUri('docs', own), seen);
    assert.deepEqual(ownUri(seen, isServer), { server: 'docs', uri: own });
  });
}

for (const uri of ['https://x.example/a+b', 'HTTP://x', 'http://docs+x/', 'data:text/plain,docs+a']) {
  test(`${uri} stays as it is and names no server`, () => {
    assert.equal(publicUri('docs', uri), uri);
    assert.equal(ownUri(uri, isServer), undefined);
  });
}

for (const uri of [
  'file:///docs+x',
  '+file:///x',
  'none+file:///x',
  'Docs+file:///x',
  'ui://none+x',
  'ui://docs/+x',
  'docs',
  '',
  'docs+https://x.example/a.git',
  'docs+data:text/plain,a',
  'docs+ui://host/x',
]) {
  test(`${JSON.stringify(uri)} names no server`, () => {
    assert.equal(ownUri(uri, isServer), undefined);
  });
}

const slug = fc.constantFrom(...SLUGS);
const uri = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.webUrl(),
  fc.stringMatching(/^(?:ui|file|memo|docs\+x):(?:\/\/)?[a-z+{}/.-]{0,20}$/),
);

test('a public URI leads back to its server and to the URI that it had there', () => {
  fc.assert(
    fc.property(slug, uri, (server, own) => {
      const seen = publicUri(server, own);
      const back = ownUri(seen, isServer);
      if (seen === own) assert.equal(back, undefined);
      else assert.deepEqual(back, { server, uri: own });
    }),
  );
});

test('what has a scheme keeps being a URI', () => {
  for (const server of SLUGS) {
    for (const own of ['file:///srv/a b', 'ui://host/x', 'memo:1']) {
      assert.ok(URL.canParse(publicUri(server, own)));
      assert.ok(publicUri(server, new URL(own).href) === new URL(publicUri(server, own)).href);
    }
  }
});

const TEXTS: readonly [text: string, restored: string][] = [
  ['docs+file:///srv/a.txt', 'file:///srv/a.txt'],
  ['ui://docs+host/x', 'ui://host/x'],
  ['x-1+file:///srv/a.txt', 'x-1+file:///srv/a.txt'],
  ['docs+search', 'docs+search'],
  ['docs+', 'docs+'],
  ['see docs+file:///srv/a.txt', 'see docs+file:///srv/a.txt'],
  ['docs+see file:///x', 'docs+see file:///x'],
  ['https://x.example/docs+a', 'https://x.example/docs+a'],
  ['docs+https://x.example/a.git', 'docs+https://x.example/a.git'],
];

for (const [text, restored] of TEXTS) {
  test(`${JSON.stringify(text)} as an argument of docs is ${JSON.stringify(restored)}`, () => {
    assert.equal(ownText('docs', text), restored);
  });
}
