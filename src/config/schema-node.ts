// The part of JSON Schema that the config's schema is made of, for code that walks it.
import type { DURATION, SECRET, SPELLING } from './schema-kinds.ts';

export interface SchemaNode {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly const?: unknown;
  readonly pattern?: string;
  readonly patternErrorMessage?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | SchemaNode;
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
  readonly [SECRET]?: true;
  readonly [DURATION]?: true;
  readonly [SPELLING]?: true;
}

/** The schema of what a path leads to; undefined where nothing is known of it. */
export function schemaAt(root: SchemaNode, path: readonly (string | number)[]): SchemaNode | undefined {
  let node: SchemaNode | undefined = root;
  for (const step of path) {
    const branches: readonly SchemaNode[] = node?.anyOf ?? (node === undefined ? [] : [node]);
    node = branches.map((branch) => childOf(branch, step)).find((child) => child !== undefined);
  }
  return node;
}

/** The schema of one member of an object or a list. */
export function childOf(node: SchemaNode, step: string | number): SchemaNode | undefined {
  if (typeof step === 'number') return node.items;
  if (node.properties !== undefined && Object.hasOwn(node.properties, step)) return node.properties[step];
  return typeof node.additionalProperties === 'object' ? node.additionalProperties : undefined;
}

/** The alternative that a value was meant as: the one of its own type, or of the `type` that it names. */
export function branchFor(branches: readonly SchemaNode[], value: unknown): SchemaNode | undefined {
  const type = Array.isArray(value) ? 'array' : typeof value;
  const fitting = branches.filter((branch) => branch.type === type && branch.const === undefined);
  if (fitting.length < 2) return fitting[0];
  const named = value !== null && typeof value === 'object' && 'type' in value ? value.type : undefined;
  return fitting.find(({ properties }) => properties?.type?.enum?.some((choice) => choice === named));
}
