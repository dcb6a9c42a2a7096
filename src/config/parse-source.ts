// YAML 1.2 or JSON, by content, into a tree with places; what the grammar or the bounds refuse becomes findings.
import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  parseDocument,
  type YAMLError,
  type YAMLMap,
} from 'yaml';
import { blankJsonComments, looksLikeJson } from './json-comments.ts';
import type { Place, SourceEntry, SourceNode } from './source-tree.ts';

export interface SyntaxFinding {
  readonly at: Place;
  readonly message: string;
  readonly hint: string;
}

export interface ParsedSource {
  /** Absent where the text cannot be read as a tree at all. */
  readonly root: SourceNode | undefined;
  readonly findings: readonly SyntaxFinding[];
}

type PlaceOf = (offset: number) => Place;

/** Far beyond any real config, far below what aliases of aliases could unfold to. */
const MAX_NODES = 100_000;
const MAX_DEPTH = 64;
const START: Place = { line: 1, column: 1 };
const TOO_LARGE = {
  message: 'the file unfolds to more than a config can hold',
  hint: 'Look for aliases of aliases, and for nesting without end.',
};

export function parseSource(text: string): ParsedSource {
  const unmarked = text.replace(/^\uFEFF/, '');
  const isJson = looksLikeJson(unmarked);
  const placeOf = placesIn(unmarked);
  const document = parseDocument(isJson ? blankJsonComments(unmarked) : unmarked, {
    prettyErrors: false,
    stringKeys: true,
    resolveKnownTags: false,
    logLevel: 'error',
  });
  const findings = syntaxFindings([...document.errors, ...document.warnings], placeOf, isJson);
  if (document.errors.some((error) => error.code !== 'DUPLICATE_KEY')) return { root: undefined, findings };

  const reader = new TreeReader(document, placeOf);
  const root = reader.read(document.contents, 0);
  return { root: reader.isReadable ? root : undefined, findings: [...findings, ...reader.findings] };
}

class TreeReader {
  readonly findings: SyntaxFinding[] = [];
  readonly #document: Document;
  readonly #placeOfOffset: PlaceOf;
  #nodes = 0;
  /** The alias of the file that is being unfolded, however many it leads through. */
  #unfolding: Place | undefined;
  isReadable = true;

  constructor(document: Document, placeOf: PlaceOf) {
    this.#document = document;
    this.#placeOfOffset = placeOf;
  }

  /** `usedAt` is where a node without a place of its own (an empty value) belongs. */
  read(node: unknown, depth: number, usedAt: Place = START): SourceNode {
    const at = this.#placeOf(node) ?? usedAt;
    this.#nodes += 1;
    if (this.isReadable && (this.#nodes > MAX_NODES || depth > MAX_DEPTH)) {
      this.isReadable = false;
      this.findings.push({ at: this.#unfolding ?? at, ...TOO_LARGE });
    }
    if (!this.isReadable) return { kind: 'scalar', at, value: null };
    if (isAlias(node)) return this.#readAlias(node, depth, at);
    if (isMap(node)) return { kind: 'map', at, entries: this.#readEntries(node, depth, at) };
    if (isSeq(node))
      return { kind: 'list', at, items: node.items.map((item) => this.read(item, depth + 1, at)) };
    if (!isScalar(node)) return { kind: 'scalar', at, value: null };
    const value = scalarValue(node.value);
    const isSpelt = typeof value !== 'string' && node.source !== undefined;
    return { kind: 'scalar', at, value, ...(isSpelt ? { spelling: node.source } : {}) };
  }

  #readEntries(map: YAMLMap, depth: number, at: Place): SourceEntry[] {
    const entries = new Map<string, SourceEntry>();
    for (const pair of map.items) {
      const key = isScalar(pair.key) ? String(pair.key.value) : String(pair.key);
      const keyAt = this.#placeOf(pair.key) ?? at;
      entries.set(key, { key, at: keyAt, value: this.read(pair.value, depth + 1, keyAt) });
    }
    return [...entries.values()];
  }

  #readAlias(alias: Alias, depth: number, at: Place): SourceNode {
    const target: Node | undefined = alias.resolve(this.#document);
    if (target === undefined) {
      this.isReadable = false;
      this.findings.push({ at, message: `there is no anchor &${alias.source} before this alias`, hint: '' });
      return { kind: 'scalar', at, value: null };
    }
    const outer = this.#unfolding;
    this.#unfolding ??= at;
    const value = this.read(target, depth + 1, at);
    this.#unfolding = outer;
    return value;
  }

  #placeOf(node: unknown): Place | undefined {
    const range = isMap(node) || isSeq(node) || isScalar(node) || isAlias(node) ? node.range : undefined;
    return range ? this.#placeOfOffset(range[0]) : undefined;
  }
}

function scalarValue(value: unknown): string | number | boolean | null {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  return value === null || value === undefined ? null : String(value);
}

/** The parser's own line counter loses lines after some errors. */
function placesIn(text: string): PlaceOf {
  const lineStarts = [0, ...Array.from(text.matchAll(/\n/g), (match) => match.index + 1)];
  return (offset) => {
    let line = 0;
    let after = lineStarts.length;
    while (after - line > 1) {
      const middle = (line + after) >> 1;
      if ((lineStarts[middle] ?? 0) <= offset) line = middle;
      else after = middle;
    }
    return { line: line + 1, column: offset - (lineStarts[line] ?? 0) + 1 };
  };
}

/** One for a line: after the first slip the parser reads the rest of it wrong. */
function syntaxFindings(errors: readonly YAMLError[], placeOf: PlaceOf, isJson: boolean): SyntaxFinding[] {
  const byLine = new Map<number, SyntaxFinding>();
  for (const error of errors) {
    const at = error.code === 'RESOURCE_EXHAUSTION' ? START : placeOf(error.pos[0]);
    if (!byLine.has(at.line)) byLine.set(at.line, { at, ...explain(error, isJson) });
    if (error.code === 'RESOURCE_EXHAUSTION') break;
  }
  return [...byLine.values()];
}

function explain(error: YAMLError, isJson: boolean): Omit<SyntaxFinding, 'at'> {
  switch (error.code) {
    case 'DUPLICATE_KEY':
      return { message: 'this key is already given above', hint: 'Remove one of the two.' };
    case 'NON_STRING_KEY':
      return { message: 'this key is not a word', hint: 'Keys are plain words or quoted text.' };
    case 'TAG_RESOLVE_FAILED':
      return { message: 'tags (!name) have no meaning here', hint: 'Remove the tag.' };
    case 'TAB_AS_INDENT':
      return { message: 'a tab indents this line', hint: 'Indent with spaces.' };
    case 'MULTIPLE_DOCS':
      return { message: 'a second document begins here', hint: 'Keep one document in a file.' };
    case 'RESOURCE_EXHAUSTION':
      return TOO_LARGE;
    default:
      return {
        message: `this is not ${isJson ? 'JSON' : 'YAML'}: ${withoutQuote(error.message)}`,
        hint: 'A value that holds any of { } [ ] : # & * (or a placeholder) may need quotes.',
      };
  }
}

/** The parser's words without what may follow a colon: it quotes the file, where a secret may stand. */
function withoutQuote(message: string): string {
  const words = message.split(': ', 1)[0] ?? message;
  return words.charAt(0).toLowerCase() + words.slice(1).replace(/\.$/, '');
}
