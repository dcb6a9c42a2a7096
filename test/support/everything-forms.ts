// The elicitation forms of the conformance suite: every primitive with a default, every kind of enumeration.
import type { ElicitRequestFormParams } from '@modelcontextprotocol/server';

export type Form = ElicitRequestFormParams['requestedSchema'];

/** A form whose fields are all required. */
export function formOf(fields: Record<string, 'string' | 'boolean'>): Form {
  const properties: Form['properties'] = {};
  for (const [name, type] of Object.entries(fields)) {
    properties[name] = type === 'string' ? { type } : { type };
  }
  return { type: 'object', properties, required: Object.keys(fields) };
}

export const DEFAULTS_FORM: Form = {
  type: 'object',
  properties: {
    name: { type: 'string', default: 'John Doe' },
    age: { type: 'integer', default: 30 },
    score: { type: 'number', default: 95.5 },
    status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean', default: true },
  },
};

const PLAIN_CHOICES = ['option1', 'option2', 'option3'];

export const ENUMS_FORM: Form = {
  type: 'object',
  properties: {
    untitledSingle: { type: 'string', enum: PLAIN_CHOICES },
    titledSingle: { type: 'string', oneOf: titled('First Option', 'Second Option', 'Third Option') },
    legacyEnum: {
      type: 'string',
      enum: ['opt1', 'opt2', 'opt3'],
      enumNames: ['Option One', 'Option Two', 'Option Three'],
    },
    untitledMulti: { type: 'array', items: { type: 'string', enum: PLAIN_CHOICES } },
    titledMulti: { type: 'array', items: { anyOf: titled('First Choice', 'Second Choice', 'Third Choice') } },
  },
};

function titled(...titles: string[]): { const: string; title: string }[] {
  return titles.map((title, index) => ({ const: `value${index + 1}`, title }));
}
