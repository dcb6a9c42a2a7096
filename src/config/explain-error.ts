// What the schema validator says, in words for the person who wrote the file. Values are never repeated: they may
// be secrets.
import type { ErrorObject } from 'ajv';
import { MAX_DURATION_MS } from './duration.ts';
import { DURATION } from './schema-kinds.ts';
import type { SchemaNode } from './schema-node.ts';
import type { Finding, Path } from './source-tree.ts';
import { nearest } from './suggestion.ts';

const KINDS: Readonly<Record<string, string>> = {
  object: 'a section with keys of its own',
  array: 'a list',
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
};

/** `root` tells where a key that is unknown here would be known. */
export function explainError(error: ErrorObject, path: Path, root: SchemaNode): Finding {
  const schema = (error.parentSchema ?? {}) as SchemaNode;
  const value = (message: string, hint = ''): Finding => ({ path, on: 'value', message, hint });
  switch (error.keyword) {
    case 'additionalProperties':
      return unknownKey(String(error.params.additionalProperty), path, schema, root);
    case 'required':
      return {
        path,
        on: 'key',
        message: `${JSON.stringify(error.params.missingProperty)} is missing here`,
        hint: '',
      };
    case 'enum':
      return value(`expected ${either(schema.enum ?? [])}`, didYouMean(error.data, schema.enum ?? []));
    case 'minimum':
      return value(`expected at least ${schema.minimum}`);
    case 'maximum':
      return value(`expected at most ${schema.maximum}`);
    case 'minLength':
      return value('expected text that is not empty');
    case DURATION:
      return value(`expected at most ${MAX_DURATION_MS / 3_600_000}h`);
    case 'type':
      return value(
        `expected ${wordsOf(schema)}, found ${kindOf(error.data)}`,
        hintForKind(schema, error.data),
      );
    default:
      return value(`expected ${wordsOf(schema)}`);
  }
}

function unknownKey(key: string, path: Path, schema: SchemaNode, root: SchemaNode): Finding {
  const close = nearest(key, Object.keys(schema.properties ?? {}));
  const elsewhere = close === undefined ? homesOf(key, root)[0] : undefined;
  const hint =
    key === '<<'
      ? 'YAML 1.2 has no merge keys; repeat the keys, or give the whole value as an alias.'
      : close !== undefined
        ? `Did you mean ${close}?`
        : elsewhere !== undefined
          ? `It belongs at ${elsewhere}.`
          : '';
  return { path: [...path, key], on: 'key', message: `there is no key ${JSON.stringify(key)} here`, hint };
}

/** Every place where a key of this name is known: `gateway.listen`, `mcpServers.*.cwd`. */
function homesOf(key: string, schema: SchemaNode, prefix = ''): string[] {
  return [schema, ...(schema.anyOf ?? [])].flatMap((branch) => {
    const own = Object.entries(branch.properties ?? {}).flatMap(([name, child]) => {
      const here = prefix === '' ? name : `${prefix}.${name}`;
      return [...(name === key ? [here] : []), ...homesOf(key, child, here)];
    });
    const { additionalProperties } = branch;
    const members =
      typeof additionalProperties === 'object' ? homesOf(key, additionalProperties, `${prefix}.*`) : [];
    return [...own, ...members];
  });
}

function wordsOf(schema: SchemaNode): string {
  return (
    schema.patternErrorMessage ??
    (schema.enum ? either(schema.enum) : (KINDS[schema.type ?? ''] ?? 'another value'))
  );
}

function kindOf(value: unknown): string {
  if (value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a section';
  return typeof value === 'string' ? 'text' : `a ${typeof value}`;
}

function hintForKind(schema: SchemaNode, value: unknown): string {
  if (schema.type !== 'string' || (typeof value !== 'number' && typeof value !== 'boolean')) return '';
  return schema.pattern?.includes('\\d') ? 'Add the unit.' : 'Put quotes around it.';
}

function didYouMean(value: unknown, choices: readonly string[]): string {
  const close = typeof value === 'string' ? nearest(value, choices) : undefined;
  return close === undefined ? '' : `Did you mean ${close}?`;
}

function either(choices: readonly string[]): string {
  return choices.length < 2 ? choices.join() : `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`;
}
