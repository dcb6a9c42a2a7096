// What one line of a server's output says. Servers are told to print nothing but messages, and many print more: what
// is no message is noise, never an end of the stream. Pure.
import { isUtf8 } from 'node:buffer';
import { BytePieces } from '../protocol/byte-pieces.ts';
import { type JsonRpcMessage, keepWritten, readId, readMessage } from '../protocol/json-rpc.ts';
import { isJsonObject, type JsonValue, readJson, readScannedJson } from '../protocol/json-text.ts';
import { type JsonScan, spanOfMember } from '../protocol/scan-json.ts';
import { readBulkResult } from './bulk-result.ts';

export type LineItem =
  | JsonRpcMessage
  /** A message dug out of a line that is no message as a whole. */
  | { readonly kind: 'salvaged'; readonly message: JsonRpcMessage }
  /** An answer that cannot be passed on; `id` is the request that it was meant for. */
  | { readonly kind: 'bad-answer'; readonly id: JsonValue; readonly problem: string }
  | { readonly kind: 'noise'; readonly text: string };

/** A frame's first key, wherever the line holds one. */
const FRAME_START = /\{\s*"(?:jsonrpc|id|method|params|result|error)"\s*:/g;
const MAX_SALVAGE_ATTEMPTS = 8;
/** A shorter result is written anew at no more cost than it takes to keep it; of 10 MB that is a third (bench: 10mb). */
const KEPT_CHARACTERS = 8 * 1024;
const LINE_END = /[\r\n]/;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const BYTE_ORDER_MARK = Buffer.from('\ufeff');

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OTHER = 0;
const OPENING = 1;
const CLOSING = 2;
const STRING = 3;
/** What a byte outside a string means; a table, since every byte of every long line is looked up. */
const BYTE_KINDS = new Uint8Array(256);
for (const byte of Buffer.from('{[')) BYTE_KINDS[byte] = OPENING;
for (const byte of Buffer.from('}]')) BYTE_KINDS[byte] = CLOSING;
BYTE_KINDS[QUOTE] = STRING;

/** Reads a line without its line end; a blank one says nothing. */
export function readServerLine(line: Buffer | string): readonly LineItem[] {
  return typeof line === 'string' ? readWholeLine(line) : readServerPieces([line]);
}

/** The same of a line that came in pieces. */
export function readServerPieces(pieces: readonly Buffer[]): readonly LineItem[] {
  const line = new BytePieces(pieces);
  const bulk = readBulkResult(line);
  return bulk === undefined ? readWholeLine(line.join()) : [bulk];
}

function readWholeLine(line: Buffer | string): readonly LineItem[] {
  const text = line.toString().replace(/^\ufeff/, '');
  const [first] = text.trimStart();
  if (first === undefined) return [];
  // Without the cost of an exception, for a server may print megabytes of this.
  if (first !== '{' && first !== '[') return salvage(Buffer.from(line), text);
  let read: ReturnType<typeof readScannedJson>;
  try {
    read = readScannedJson(text);
  } catch (thrown) {
    return thrown instanceof RangeError ? [readTooDeep(text)] : salvage(Buffer.from(line), text);
  }
  const { value, scan } = read;
  // The revision 2025-03-26 lets a server send several messages as an array.
  if (Array.isArray(value) && value.length > 0) return value.map((member) => readValue(member, text));
  const item = readValue(value, text);
  if (item.kind === 'response' && 'result' in item.outcome && text.length > KEPT_CHARACTERS) {
    const written = resultIn(line, text, scan);
    if (written !== undefined) keepWritten(item.outcome.result, [written]);
  }
  return [item];
}

/** The bytes of a result where its line is bytes that are sound, else its text; in any case one line. */
function resultIn(line: Buffer | string, text: string, scan: JsonScan): Buffer | string | undefined {
  const [start, end] = spanOfMember(text, scan, 'result') ?? [];
  if (start === undefined || end === undefined) return undefined;
  if (typeof line === 'string') return LINE_END.test(text) ? undefined : text.slice(start, end);
  if (line.includes(LINE_FEED) || line.includes(CARRIAGE_RETURN) || !isUtf8(line)) return undefined;
  const markBytes = line[0] === BYTE_ORDER_MARK[0] ? BYTE_ORDER_MARK.length : 0;
  const firstByte = markBytes + Buffer.byteLength(text.slice(0, start));
  return line.subarray(firstByte, line.length - Buffer.byteLength(text.slice(end)));
}

function readValue(value: unknown, text: string): LineItem {
  const message = readMessage(value);
  if (message.kind !== 'malformed') return message;
  if (
    isJsonObject(value) &&
    !('method' in value) &&
    readId(value.id) &&
    ('result' in value || 'error' in value)
  ) {
    return { kind: 'bad-answer', id: value.id ?? null, problem: message.problem };
  }
  return { kind: 'noise', text };
}

/** Such a message can be read but not written again; the call that it answers should not wait for nothing. */
function readTooDeep(text: string): LineItem {
  let id: JsonValue | undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (isJsonObject(value) && !('method' in value)) id = value.id;
  } catch {
    // Deep and broken.
  }
  return readId(id)
    ? { kind: 'bad-answer', id: id ?? null, problem: 'it is nested too deeply' }
    : { kind: 'noise', text };
}

/** Frames glued to a banner, to each other, or to half of another one. */
function salvage(line: Buffer, text: string): LineItem[] {
  const found: LineItem[] = [];
  let after = 0;
  let attempts = 0;
  // One character a byte, so that what the pattern finds can be cut from the bytes.
  for (const { index } of line.toString('latin1').matchAll(FRAME_START)) {
    if (index < after) continue;
    if (attempts === MAX_SALVAGE_ATTEMPTS) break;
    attempts += 1;
    const end = endOfObject(line, index);
    const message = end === undefined ? undefined : tryMessage(line.toString('utf8', index, end));
    if (message === undefined || end === undefined) continue;
    found.push({ kind: 'salvaged', message });
    after = end;
  }
  return [{ kind: 'noise', text }, ...found];
}

function tryMessage(text: string): JsonRpcMessage | undefined {
  try {
    const message = readMessage(readJson(text));
    return message.kind === 'malformed' ? undefined : message;
  } catch {
    return undefined;
  }
}

/** The index after the brace that closes the object at `start`. */
function endOfObject(line: Buffer, start: number): number | undefined {
  let depth = 0;
  for (let i = start; i < line.length; i += 1) {
    const kind = BYTE_KINDS[line[i] as number];
    if (kind === OTHER) continue;
    if (kind === STRING) {
      i = endOfString(line, i);
    } else {
      depth += kind === OPENING ? 1 : -1;
      if (depth === 0) return i + 1;
    }
  }
  return undefined;
}

/** The index of the quote that closes the string at `start`, or one past the end. */
function endOfString(line: Buffer, start: number): number {
  let i = start + 1;
  while (i < line.length && line[i] !== QUOTE) i += line[i] === BACKSLASH ? 2 : 1;
  return i;
}
