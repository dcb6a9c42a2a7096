import assert from 'node:assert/strict';
import { test } from 'node:test';
import { olderForm } from '../../../src/bridge/crossings/older-form.ts';
import type { JsonObject } from '../../../src/protocol/json-text.ts';

const COLORS = { type: 'array', items: { type: 'string', enum: ['#f00', '#0f0'] } };
const TITLED = {
  type: 'array',
  title: 'Colors',
  description: 'Those you like',
  minItems: 1,
  maxItems: 2,
  items: {
    anyOf: [
      { const: '#f00', title: 'Red' },
      { const: '#0f0', title: 'Green' },
    ],
  },
  default: ['#0f0'],
};

const form = (properties: JsonObject, required?: string[]): JsonObject => ({
  message: 'Which?',
  requestedSchema: { type: 'object', properties, ...(required && { required }) },
});

test('several choices in one field become a yes or no for each, and stand where they stood', () => {
  const said = olderForm(form({ before: { type: 'string' }, colors: TITLED, after: { type: 'integer' } }));
  const description = 'Those you like (at least 1, at most 2)';
  const properties = {
    before: { type: 'string' },
    'colors.1': { type: 'boolean', title: 'Colors: Red', description },
    'colors.2': { type: 'boolean', title: 'Colors: Green', description, default: true },
    after: { type: 'integer' },
  };
  assert.deepEqual(said?.params, form(properties));
  assert.equal(JSON.stringify(said?.params), JSON.stringify(form(properties)), 'in this order');
});

test('choices without titles are named by what they are; a field that is required is no longer a field', () => {
  const said = olderForm(form({ colors: COLORS, name: { type: 'string' } }, ['colors', 'name']));
  const properties = {
    'colors.1': { type: 'boolean', title: 'colors: #f00' },
    'colors.2': { type: 'boolean', title: 'colors: #0f0' },
    name: { type: 'string' },
  };
  assert.deepEqual(said?.params, form(properties, ['name']));
});

for (const [what, required, content, expected] of [
  ['yes and no', [], { 'colors.1': true, 'colors.2': false, name: 'A' }, { name: 'A', colors: ['#f00'] }],
  ['yes to all', [], { 'colors.2': true, 'colors.1': true }, { colors: ['#f00', '#0f0'] }],
  ['only no', [], { 'colors.1': false }, { colors: [] }],
  ['nothing', [], { name: 'A' }, { name: 'A' }],
  ['nothing, where it is required', ['colors'], {}, { colors: [] }],
  ['no yes or no at all', [], { 'colors.1': 'yes' }, { colors: [] }],
] as const) {
  test(`the answer ${what} is one field again`, () => {
    const said = olderForm(form({ colors: COLORS, name: { type: 'string' } }, [...required]));
    assert.deepEqual(said?.contentFor(content), expected);
  });
}

for (const [what, properties] of [
  ['an object in a field', { where: { type: 'object', properties: {} } }],
  ['a field of two types', { where: { type: ['string', 'null'] } }],
  ['any strings in a list', { tags: { type: 'array', items: { type: 'string' } } }],
  ['a list of lists', { tags: { type: 'array', items: { type: 'array' } } }],
  ['choices that are no texts', { tags: { type: 'array', items: { enum: [1, 2] } } }],
  ['choices without a value', { tags: { type: 'array', items: { anyOf: [{ title: 'Red' }] } } }],
  ['more choices than one can be shown', { tags: { type: 'array', items: { enum: many(33) } } }],
  ['a name that is taken', { colors: COLORS, 'colors.2': { type: 'string' } }],
] as const) {
  test(`${what} cannot be said`, () => {
    assert.equal(olderForm(form(properties as JsonObject)), undefined);
  });
}

test('what older revisions know stays as it is, and so does its answer', () => {
  const known = form({
    name: { type: 'string', format: 'email' },
    age: { type: 'number' },
    ok: { type: 'boolean' },
  });
  const content = { name: 'a@b.example', 'name.1': true };
  assert.deepEqual([olderForm(known)?.params, olderForm(known)?.contentFor(content)], [known, content]);
  assert.deepEqual(olderForm({ message: 'no schema' })?.params, { message: 'no schema' });
});

function many(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `choice ${index}`);
}
