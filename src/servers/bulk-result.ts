// An answer that is nearly all one text, image or file: what it says besides is read, and the bulk goes on as it came.
// Only where nobody but the client looks at it; whatever is not quite so is for readServerLine to read in full.
import type { BytePieces } from '../protocol/byte-pieces.ts';
import { type JsonOutline, outlineOf } from '../protocol/json-outline.ts';
import { type JsonRpcMessage, keepWritten, readMessage } from '../protocol/json-rpc.ts';
import { isJsonObject, type JsonObject, readScannedJson } from '../protocol/json-text.ts';
import { LongText } from '../protocol/long-text.ts';
import { spanOfMember } from '../protocol/scan-json.ts';

/** Below it reading in full costs less than it takes to tell (bench: 100kb). */
const BULK_BYTES = 64 * 1024;
const LINE_END = /[\r\n]/;

/** A response whose result goes on in the bytes that it came in; undefined where that is not known to be right. */
export function readBulkResult(line: BytePieces): JsonRpcMessage | undefined {
  if (line.length < BULK_BYTES) return undefined;
  const outline = outlineOf(line);
  if (outline === undefined || LINE_END.test(outline.text) || !line.isUtf8()) return undefined;
  const read = readOutline(outline);
  if (read === undefined) return undefined;
  const message = readMessage(read.value);
  if (message.kind !== 'response' || !('result' in message.outcome)) return undefined;
  const { result } = message.outcome;
  const [start, end] = spanOfMember(outline.text, read.scan, 'result') ?? [];
  if (start === undefined || end === undefined || countBulk(result) !== outline.leftOut.size)
    return undefined;
  keepWritten(result, line.slice(outline.byteOffset(start), outline.byteOffset(end)));
  return message;
}

function readOutline({ text, leftOut }: JsonOutline): ReturnType<typeof readScannedJson> | undefined {
  try {
    return readScannedJson(text, leftOut);
  } catch {
    return undefined;
  }
}

/** How many texts were left out where the protocol has them for the client: in content blocks, and in resources. */
function countBulk({ resultType = 'complete', content, contents }: JsonObject): number {
  if (resultType !== 'complete') return 0;
  return count(content, countInBlock) + count(contents, countInResource);
}

function countInBlock(block: JsonObject): number {
  const { text, data, resource } = block;
  return (
    Number(isLeftOut(text)) +
    Number(isLeftOut(data)) +
    (isJsonObject(resource) ? countInResource(resource) : 0)
  );
}

function countInResource({ text, blob }: JsonObject): number {
  return Number(isLeftOut(text)) + Number(isLeftOut(blob));
}

function count(list: unknown, countIn: (entry: JsonObject) => number): number {
  if (!Array.isArray(list)) return 0;
  return list.reduce((sum: number, entry) => sum + (isJsonObject(entry) ? countIn(entry) : 0), 0);
}

function isLeftOut(value: unknown): boolean {
  return value instanceof LongText;
}
