// portico.lock: the definitions of tools that somebody has looked at and approved, each with its digest. Written by
// `portico pin`, kept beside the config, and read by people in a diff.
import { createHash } from 'node:crypto';
import { canonicalJson } from '../protocol/canonical-json.ts';
import { isJsonObject, type JsonObject, readJson } from '../protocol/json-text.ts';
import { visibleJson } from '../protocol/visible-json.ts';

export const LOCK_NAME = 'portico.lock';

export interface PinnedTool {
  /** Of the canonical JSON of the definition, hex. */
  readonly sha256: string;
  /** All that the server said of the tool: a word that models read may stand in any member. */
  readonly definition: JsonObject;
}

/** By the server's own names. */
export type PinnedTools = ReadonlyMap<string, PinnedTool>;
/** By slug. */
export type ToolLock = ReadonlyMap<string, PinnedTools>;

const VERSION = 1;

export function pinOf(definition: JsonObject): PinnedTool {
  return { sha256: digestOf(definition), definition };
}

export function digestOf(definition: JsonObject): string {
  return createHash('sha256').update(canonicalJson(definition)).digest('hex');
}

export function lockText(lock: ToolLock): string {
  const servers = [...lock].map(([slug, tools]) => [slug, { tools: Object.fromEntries(tools) }]);
  const inOrder = canonicalJson({ version: VERSION, servers: Object.fromEntries(servers) });
  return visibleJson(`${JSON.stringify(readJson(inOrder), null, 2)}\n`);
}

/** @throws Error whose message completes "portico.lock is of no use:" */
export function readLock(text: string): ToolLock {
  const { version, servers } = objectOf(parsed(text), 'it is no JSON object');
  if (version !== VERSION) throw new Error(`it is not of version ${VERSION}, which this Portico writes`);
  const entries = Object.entries(objectOf(servers, 'it has no "servers"'));
  return new Map(entries.map(([slug, server]) => [slug, readTools(slug, server)]));
}

function readTools(slug: string, server: unknown): PinnedTools {
  const { tools } = objectOf(server, `its entry for ${slug} is no object`);
  const entries = Object.entries(objectOf(tools, `its entry for ${slug} has no "tools"`));
  return new Map(entries.map(([name, tool]) => [name, readTool(`${slug}/${name}`, name, tool)]));
}

/** What was approved is the definition, so a digest of another one is nobody's approval. */
function readTool(path: string, name: string, tool: unknown): PinnedTool {
  const { sha256, definition } = objectOf(tool, `its entry for ${path} is no object`);
  const defined = objectOf(definition, `its entry for ${path} has no definition`);
  if (sha256 !== digestOf(defined) || defined.name !== name) {
    throw new Error(`the digest and the definition of ${path} do not belong together`);
  }
  return { sha256, definition: defined };
}

function parsed(text: string): unknown {
  try {
    return readJson(text);
  } catch {
    throw new Error('it is no JSON');
  }
}

function objectOf(value: unknown, otherwise: string): JsonObject {
  if (isJsonObject(value)) return value;
  throw new Error(otherwise);
}
