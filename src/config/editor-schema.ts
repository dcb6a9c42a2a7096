// The schema as editors need it: of the file as it is written, where a placeholder may stand for any single value.
import { DURATION, SECRET, SPELLING } from './schema-kinds.ts';
import type { SchemaNode } from './schema-node.ts';

const PLACEHOLDER = String.raw`\$\{`;
/** Of use to us alone. */
const INNER_KEYWORDS = new Set<string>([SECRET, DURATION, SPELLING]);

export function editorSchema(schema: SchemaNode): object {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Portico configuration',
    ...node(schema),
  };
}

function node(schema: SchemaNode): Record<string, unknown> {
  const kept = Object.entries(schema).filter(([keyword]) => !INNER_KEYWORDS.has(keyword));
  const written: Record<string, unknown> = { ...Object.fromEntries(kept), ...withPlaceholder(schema) };
  if (Array.isArray(written.required) && written.required.length === 0) delete written.required;
  if (schema.properties !== undefined) {
    const properties = Object.entries(schema.properties).map(([key, child]) => [key, node(child)]);
    written.properties = Object.fromEntries(properties);
  }
  if (typeof schema.additionalProperties === 'object')
    written.additionalProperties = node(schema.additionalProperties);
  if (schema.items !== undefined) written.items = node(schema.items);
  if (schema.anyOf !== undefined) written.anyOf = schema.anyOf.map(node);
  return written;
}

function withPlaceholder(schema: SchemaNode): Record<string, unknown> {
  if (schema.type === 'integer' || schema.type === 'boolean') {
    return schema.const === undefined ? { type: [schema.type, 'string'], pattern: PLACEHOLDER } : {};
  }
  if (schema[SPELLING] === true) return { type: ['string', 'number', 'boolean'] };
  if (schema.pattern !== undefined) return { pattern: `(?:${schema.pattern})|${PLACEHOLDER}` };
  // An enumeration admits nothing else, so the placeholder is an alternative to it.
  if (schema.enum === undefined) return {};
  const choices = { type: 'string', enum: schema.enum };
  return { enum: undefined, type: undefined, anyOf: [choices, { type: 'string', pattern: PLACEHOLDER }] };
}
