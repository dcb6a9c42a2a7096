// MCP clients keep their servers in files much like ours (`mcp.json`). Their words for our keys are read as ours;
// their own keys, a fixed list, are left out with one warning; every other unknown key stays and is refused later.
import {
  entryOf,
  type Finding,
  type Path,
  type SourceEntry,
  type SourceMap,
  type SourceNode,
} from './source-tree.ts';

export interface ClientSpelling {
  readonly root: SourceNode;
  /** By the file's own keys. */
  readonly warnings: readonly Finding[];
}

const OUR_WORDS: Readonly<Record<string, string>> = {
  transport: 'type',
  transportType: 'type',
  serverUrl: 'url',
  httpUrl: 'url',
  working_directory: 'cwd',
};
const OUR_TYPES: Readonly<Record<string, string>> = {
  'streamable-http': 'http',
  streamableHttp: 'http',
  streamable_http: 'http',
  local: 'stdio',
};

const CLIENT_ROOT_KEYS = new Set(['inputs', 'globalShortcut', 'preferences', 'sandbox']);
/** What these hide in the client is not hidden here. */
const HIDING_KEYS = new Set(['includeTools', 'excludeTools', 'enabledTools', 'disabledTools']);
const CLIENT_SERVER_KEYS = new Set([
  ...HIDING_KEYS,
  ...['autoApprove', 'alwaysAllow', 'alwaysLoad', 'trust', 'start_on_launch', 'autoStart'],
  ...['timeout', 'initTimeout', 'envFile', 'oauth', 'headersHelper', 'sandbox', 'sandboxEnabled'],
  ...['name', 'description', 'displayName', 'icon', 'version', 'gallery', 'note', 'dev', 'watchPaths'],
]);
/** Every transport sets these itself, so a file that names them loses nothing. */
const CLIENT_HEADERS = new Set(['accept', 'content-type', 'accept-encoding', 'connection']);

export function readClientSpelling(root: SourceNode): ClientSpelling {
  if (root.kind !== 'map') return { root, warnings: [] };
  const ignored: Path[] = [];
  // VS Code's word; where both stand, it is one key too many.
  const serversKey = entryOf(root, 'mcpServers') === undefined ? 'servers' : 'mcpServers';
  const entries = keepOurs(root.entries, CLIENT_ROOT_KEYS, [], ignored).map((entry) => {
    if (entry.key !== serversKey) return entry;
    const ours = { ...entry, key: 'mcpServers', value: readServers(entry.value, [entry.key], ignored) };
    return entry.key === ours.key ? ours : { ...ours, writtenKey: entry.key };
  });
  return { root: { ...root, entries }, warnings: warningsFor(ignored) };
}

function readServers(servers: SourceNode, path: Path, ignored: Path[]): SourceNode {
  if (servers.kind !== 'map') return servers;
  const entries = servers.entries.map((entry) => {
    const { key, value } = entry;
    return value.kind === 'map' ? { ...entry, value: readServer(value, [...path, key], ignored) } : entry;
  });
  return { ...servers, entries };
}

function readServer(server: SourceMap, path: Path, ignored: Path[]): SourceMap {
  const entries: SourceEntry[] = [];
  for (const entry of keepOurs(server.entries, CLIENT_SERVER_KEYS, path, ignored)) {
    const ours = readEntry(entry, path, ignored);
    const twin = ours.writtenKey === undefined ? undefined : twinOf(ours.key, server, entries);
    if (twin === undefined) entries.push(ours);
    // Two words for one key ("type" and "transport"): where they disagree, the client's is one key too many.
    else if (!sameScalar(readType(twin.value), ours.value)) entries.push(entry);
  }
  return { ...server, entries };
}

function twinOf(key: string, server: SourceMap, read: readonly SourceEntry[]): SourceEntry | undefined {
  return entryOf(server, key) ?? read.find((entry) => entry.key === key);
}

function readEntry(entry: SourceEntry, path: Path, ignored: Path[]): SourceEntry {
  const { key, value } = entry;
  if (key === 'enabled' && value.kind === 'scalar' && typeof value.value === 'boolean') {
    return { ...entry, key: 'disabled', writtenKey: key, value: { ...value, value: !value.value } };
  }
  if (key === 'headers' && value.kind === 'map') {
    const isOurs = (header: SourceEntry) => !CLIENT_HEADERS.has(header.key.toLowerCase());
    const others = value.entries.filter((header) => !isOurs(header));
    ignored.push(...others.map((header) => [...path, key, header.key]));
    return { ...entry, value: { ...value, entries: value.entries.filter(isOurs) } };
  }
  const word = Object.hasOwn(OUR_WORDS, key) ? OUR_WORDS[key] : undefined;
  const renamed = word === undefined ? entry : { ...entry, key: word, writtenKey: key };
  return renamed.key === 'type' ? { ...renamed, value: readType(value) } : renamed;
}

function readType(type: SourceNode): SourceNode {
  if (type.kind !== 'scalar' || typeof type.value !== 'string' || !Object.hasOwn(OUR_TYPES, type.value))
    return type;
  return { ...type, value: OUR_TYPES[type.value] ?? type.value };
}

function keepOurs(
  entries: readonly SourceEntry[],
  clientKeys: ReadonlySet<string>,
  path: Path,
  ignored: Path[],
): SourceEntry[] {
  ignored.push(...entries.filter((entry) => clientKeys.has(entry.key)).map((entry) => [...path, entry.key]));
  return entries.filter((entry) => !clientKeys.has(entry.key));
}

function sameScalar(one: SourceNode, other: SourceNode): boolean {
  return one.kind === 'scalar' && other.kind === 'scalar' && one.value === other.value;
}

/** One warning for all, where the first of them stands. */
function warningsFor(ignored: readonly Path[]): Finding[] {
  const [first] = ignored;
  if (first === undefined) return [];
  const names = [...new Set(ignored.map((path) => String(path.at(-1))))];
  const hiding = names.filter((name) => HIDING_KEYS.has(name));
  const hints = [
    ...(hiding.length > 0 ? [`Tools that ${hiding.join(' and ')} would hide are served here.`] : []),
    ...(names.includes('envFile') ? ['Variables of an envFile are not read: list them under env.'] : []),
  ];
  return [
    {
      path: first,
      on: 'key',
      message: `ignored, of use to clients alone: ${names.join(', ')}`,
      hint: hints.join(' '),
    },
  ];
}
