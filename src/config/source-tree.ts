// A config file as a tree whose every key and value knows where it stands, so that a problem found at any later
// stage can name its line.

export interface Place {
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 code units. */
  readonly column: number;
}

export type SourceNode = SourceScalar | SourceList | SourceMap;

export interface SourceScalar {
  readonly kind: 'scalar';
  readonly at: Place;
  readonly value: string | number | boolean | null;
  /** How a value that is no text is spelt: `1.10` is 1.1, `0x1F` is 31. */
  readonly spelling?: string;
  /** The text held placeholders; `value` is what they stand for. */
  readonly substituted?: true;
}

export interface SourceList {
  readonly kind: 'list';
  readonly at: Place;
  readonly items: readonly SourceNode[];
}

export interface SourceMap {
  readonly kind: 'map';
  readonly at: Place;
  readonly entries: readonly SourceEntry[];
}

export interface SourceEntry {
  readonly key: string;
  /** The key in the file, where it is a client's word for `key`. */
  readonly writtenKey?: string;
  readonly at: Place;
  readonly value: SourceNode;
}

export type Path = readonly (string | number)[];

/** What is wrong, before it is known where `path` stands in the file. */
export interface Finding {
  readonly path: Path;
  /** Whether the key or its value is to be pointed at. */
  readonly on: 'key' | 'value';
  readonly message: string;
  readonly hint: string;
}

export function entryOf(map: SourceMap, key: string): SourceEntry | undefined {
  let byKey = entriesByKey.get(map);
  if (byKey === undefined) {
    // The first of two is the one that counts, so it is put in last.
    byKey = new Map(map.entries.toReversed().map((entry) => [entry.key, entry]));
    entriesByKey.set(map, byKey);
  }
  return byKey.get(key);
}

/** Each of thousands of problems is looked up by its path. */
const entriesByKey = new WeakMap<SourceMap, ReadonlyMap<string, SourceEntry>>();

/** Objects without a prototype, so that a key named `__proto__` is a key like any other. */
export function plainValue(node: SourceNode): unknown {
  if (node.kind === 'scalar') return node.value;
  if (node.kind === 'list') return node.items.map(plainValue);
  const object: Record<string, unknown> = Object.create(null);
  for (const entry of node.entries) object[entry.key] = plainValue(entry.value);
  return object;
}

/** What stands at a path, if anything does. */
export function nodeAt(root: SourceNode, path: Path): SourceNode | undefined {
  let node: SourceNode | undefined = root;
  for (const step of path) node = node === undefined ? undefined : stepInto(node, step).value;
  return node;
}

/** Where a path stands; where it leads out of the file, the last key on the way. */
export function locate(root: SourceNode, path: Path, on: Finding['on']): Place {
  let node = root;
  let at = root.at;
  for (const step of path) {
    const { entry, value } = stepInto(node, step);
    if (value === undefined) return at;
    at = entry?.at ?? value.at;
    node = value;
  }
  return on === 'key' ? at : node.at;
}

/** The path in the file's own words: `servers.docs.url`, `gateway.origins[0]`, `mcpServers["My docs"].url`. */
export function writtenPath(root: SourceNode, path: Path): string {
  let node: SourceNode | undefined = root;
  let written = '';
  for (const step of path) {
    const found: Step = node === undefined ? {} : stepInto(node, step);
    const name = found.entry?.writtenKey ?? step;
    if (typeof name === 'string' && /^[\w$-]+$/.test(name)) written += written === '' ? name : `.${name}`;
    else written += `[${JSON.stringify(name)}]`;
    node = found.value;
  }
  return written;
}

interface Step {
  readonly entry?: SourceEntry;
  readonly value?: SourceNode;
}

function stepInto(node: SourceNode, step: string | number): Step {
  if (node.kind === 'map') {
    const entry = entryOf(node, String(step));
    return entry === undefined ? {} : { entry, value: entry.value };
  }
  const item = node.kind === 'list' ? node.items[Number(step)] : undefined;
  return item === undefined ? {} : { value: item };
}
