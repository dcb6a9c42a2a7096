// The reference part of docs/configuration.md: every key of the schema with its value, default and effect.
import { DURATION } from './schema-kinds.ts';
import type { SchemaNode } from './schema-node.ts';

interface Row {
  readonly path: string;
  readonly schema: SchemaNode;
}

const SERVER = 'mcpServers.<name>.';
const GATEWAY = 'gateway.';

export function configReference(schema: SchemaNode): string {
  const rows = rowsBelow(schema, '');
  const within = (prefix: string) =>
    rows
      .filter((row) => row.path.startsWith(prefix))
      .map((row) => ({ ...row, path: row.path.slice(prefix.length) }));
  return [
    ...['### The file', '', lines(rows.filter((row) => !row.path.includes('.'))), ''],
    ...['### A server: `mcpServers.<name>`', '', lines(within(SERVER)), ''],
    ...['### Portico itself: `gateway`', '', lines(within(GATEWAY)), ''],
  ].join('\n');
}

/** Every key below a schema, each section before what it holds. */
function rowsBelow(schema: SchemaNode, prefix: string): Row[] {
  const { properties = {}, additionalProperties, items, anyOf = [] } = schema;
  const named = Object.entries(properties).map(([key, child]) => [`${prefix}${key}`, child] as const);
  const others =
    typeof additionalProperties === 'object' ? [[`${prefix}<name>`, additionalProperties] as const] : [];
  const members = items === undefined ? [] : [[`${prefix.slice(0, -1)}[]`, items] as const];
  const own = [...named, ...others, ...members].flatMap(([path, child]) => {
    const isKey = child.description !== undefined && items !== child;
    return [...(isKey ? [{ path, schema: child }] : []), ...rowsBelow(child, `${path}.`)];
  });
  return [...own, ...anyOf.flatMap((branch) => rowsBelow(branch, prefix))];
}

/** One line a key; alternatives that share a key share its line. */
function lines(rows: readonly Row[]): string {
  const byPath = Map.groupBy(rows, (row) => row.path);
  return [...byPath]
    .map(([path, [first, ...others]]) => {
      const [effect, byDefault] = splitDescription(first?.schema ?? {});
      const values = new Set([first, ...others].map((row) => valueWords(row?.schema ?? {})));
      const value = [[...values].join(', '), byDefault].filter((words) => words !== '').join('; ');
      return `- \`${path}\` (${value}): ${effect}`;
    })
    .join('\n');
}

/** Descriptions end with the default, or begin with "Required". */
function splitDescription(schema: SchemaNode): [effect: string, byDefault: string] {
  const description = schema.description ?? '';
  const [, effect = description, byDefault = ''] = /^(.*?) ?Default: (.*)\.$/s.exec(description) ?? [];
  const isLiteral = schema.default !== undefined && byDefault !== '';
  if (description.startsWith('Required. ')) return [description.slice('Required. '.length), 'required'];
  if (byDefault === '') return [effect, ''];
  return [effect, `default ${isLiteral ? `\`${byDefault}\`` : byDefault}`];
}

function valueWords(schema: SchemaNode): string {
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map(valueWords))].join(' or ');
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.enum !== undefined) return schema.enum.map((choice) => `\`${choice}\``).join(', ');
  if (schema[DURATION] === true) return 'duration';
  if (schema.patternErrorMessage?.startsWith('a size')) return 'size';
  if (schema.type === 'array') return `list of ${valueWords(schema.items ?? {})}`;
  if (schema.type === 'object') return schema.properties === undefined ? 'names and values' : 'section';
  return { string: 'text', integer: 'number', boolean: '`true`, `false`' }[schema.type ?? ''] ?? 'any';
}
