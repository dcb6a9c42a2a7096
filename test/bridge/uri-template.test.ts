// Templates expanded as far as values are known (RFC 6570, sections 1.2 and 3.2).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expandTemplate } from '../../src/bridge/uri-template.ts';

const VALUES = {
  var: 'value',
  hello: 'Hello World!',
  path: '/foo/bar',
  x: '1024',
  y: '768',
  up: '../x',
  n: 7,
};

const EXPANSIONS: readonly (readonly [template: string, text: string])[] = [
  ['test://a', 'test://a'],
  ['{var}', 'value'],
  ['{hello}', 'Hello%20World!'],
  ['{path}/here', '%2Ffoo%2Fbar/here'],
  ['{+path}/here', '/foo/bar/here'],
  ['{+hello}', 'Hello%20World!'],
  ['{#path}', '#/foo/bar'],
  ['x{.x,y}', 'x.1024.768'],
  ['{/var,x}/here', '/value/1024/here'],
  ['{;x,y}', ';x=1024;y=768'],
  ['{?x,y}', '?x=1024&y=768'],
  ['?a=b{&x}', '?a=b&x=1024'],
  ['{var*}', 'value'],
  ['{var:30}', 'value'],
  ['{up}', '..%2Fx'],
  ['{+up}', '../x'],
];

for (const [template, text] of EXPANSIONS) {
  test(`${template} becomes ${text}`, () => {
    assert.deepEqual(expandTemplate(template, VALUES), { text, complete: true });
  });
}

test('an expression whose value is not known, or is no text, stays as it is', () => {
  for (const template of ['{nothing}', '{var}/{nothing}', '{x,nothing}', '{n}', '{constructor}', '{|var}']) {
    const { text, complete } = expandTemplate(template, VALUES);
    assert.equal(complete, false, template);
    assert.ok(text.includes('{'), template);
  }
  assert.equal(expandTemplate('{var}/{nothing}', VALUES).text, 'value/{nothing}');
});
