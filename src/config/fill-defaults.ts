// Puts the schema's defaults where a file says nothing, so that what follows never asks again.
import { branchFor, childOf, type SchemaNode } from './schema-node.ts';

export function fillDefaults(schema: SchemaNode, value: unknown): unknown {
  if (schema.anyOf !== undefined) {
    const branch = branchFor(schema.anyOf, value);
    return branch === undefined ? value : fillDefaults(branch, value);
  }
  if (Array.isArray(value)) return value.map((item, index) => fillMember(schema, index, item));
  if (typeof value !== 'object' || value === null) return value;

  const filled: Record<string, unknown> = Object.create(null);
  for (const [key, member] of Object.entries(value)) filled[key] = fillMember(schema, key, member);
  for (const [key, known] of Object.entries(schema.properties ?? {})) {
    if (key in filled || known.default === undefined) continue;
    filled[key] = fillDefaults(known, structuredClone(known.default));
  }
  return filled;
}

function fillMember(schema: SchemaNode, step: string | number, member: unknown): unknown {
  const known = childOf(schema, step);
  return known === undefined ? member : fillDefaults(known, member);
}
