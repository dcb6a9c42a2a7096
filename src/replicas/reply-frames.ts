// An answer on its way from its home: one line of JSON for each thing that is said, digits as they came. An empty line
// says only that somebody is still there. U+2028 is no line end here.
import { FAILURES } from '../errors.ts';
import { isJsonObject, type JsonObject, readJson, writeJson } from '../protocol/json-text.ts';
import type { ReplyFrame } from './replicas.ts';

/** Goes before all frames: its signature shows that the home knows the secret. */
export const TAKEN = '{"taken":true}';
/** Nothing is made of it, so nobody signs it. */
export const HEARTBEAT = '\n';

export function frameText(frame: ReplyFrame): string {
  return writeJson(frame);
}

export interface RespondText {
  readonly idText: string;
  /** The outcome as JSON text: it may be large, and is written once. */
  readonly outcomeJson: string;
  readonly status: number | undefined;
  readonly eventId: string | undefined;
}

export function respondText({ idText, outcomeJson, status, eventId }: RespondText): string {
  // Members that are undefined leave no trace.
  const others = writeJson({ idText, status, eventId }).slice(1);
  return `{"respond":{"outcome":${outcomeJson},${others}}`;
}

/** Undefined: no frame that this version knows. */
export function readFrame(text: string): ReplyFrame | undefined {
  const value = parse(text);
  if (value === undefined) return undefined;
  const [kind = '', ...others] = Object.keys(value);
  const isKnown = others.length === 0 && Object.hasOwn(IS_CONTENT, kind);
  // Sound for what the check of its kind has let through.
  return isKnown && IS_CONTENT[kind as FrameKind](value[kind]) ? (value as unknown as ReplyFrame) : undefined;
}

type Kinds<Frame> = Frame extends unknown ? keyof Frame : never;
type FrameKind = Kinds<ReplyFrame>;

/** Of each kind, whether what it holds can be what it should hold. */
const IS_CONTENT: Readonly<Record<FrameKind, (content: unknown) => boolean>> = {
  header: (content) => Array.isArray(content) && content.length === 2 && content.every(isText),
  open: (content) => isJsonObject(content) && isOptionalText(content.primingEventId),
  send: (content) =>
    isJsonObject(content) && isJsonObject(content.message) && isOptionalText(content.eventId),
  respond: (content) =>
    isJsonObject(content) &&
    isText(content.idText) &&
    isJsonObject(content.outcome) &&
    (isJsonObject(content.outcome.result) || isJsonObject(content.outcome.error)) &&
    (content.status === undefined || typeof content.status === 'number') &&
    isOptionalText(content.eventId),
  fail: (content) =>
    isJsonObject(content) &&
    isText(content.code) &&
    Object.hasOwn(FAILURES, content.code) &&
    isJsonObject(content.details) &&
    isOptionalText(content.idText) &&
    (content.era === 'modern' || content.era === 'legacy'),
  accept: (content) => content === 202 || content === 204,
  end: (content) => content === true,
  record: isJsonObject,
};

function parse(text: string): JsonObject | undefined {
  try {
    const value = readJson(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isOptionalText(value: unknown): boolean {
  return value === undefined || isText(value);
}
