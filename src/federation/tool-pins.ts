// Tools of one server against the definitions that somebody approved: a server must not be able to change quietly what
// a tool says of itself, which is what models go by.
import { digestOf, type PinnedTool, type PinnedTools } from '../config/tool-lock.ts';
import { canonicalJson } from '../protocol/canonical-json.ts';
import { isJsonObject, type JsonObject } from '../protocol/json-text.ts';

export interface PinDifference {
  /** By the server's own name. */
  readonly tool: string;
  /** Of what the server lists now. */
  readonly sha256: string;
  /** `new` where nothing of that name was approved. */
  readonly problem: 'new' | 'changed';
  /** Members of the definition that differ. */
  readonly fields: readonly string[];
  /** These members as they were approved, and as they are: canonical JSON, cut short. */
  readonly was: Readonly<Record<string, string>>;
  readonly is: Readonly<Record<string, string>>;
}

const MAX_FIELDS = 8;
const MAX_CHARACTERS = 400;
const MAX_NAME_CHARACTERS = 64;

export class ToolPins {
  readonly #approved: PinnedTools;
  /** Digests of definitions that are asked for again and again. */
  readonly #digests = new WeakMap<JsonObject, string>();

  constructor(approved: PinnedTools) {
    this.#approved = approved;
  }

  /** How a definition differs from what was approved; undefined where it does not. */
  differenceOf(tool: string, definition: JsonObject): PinDifference | undefined {
    const approved = this.#approved.get(tool);
    const sha256 = this.#digests.get(definition) ?? digestOf(definition);
    this.#digests.set(definition, sha256);
    return sha256 === approved?.sha256 ? undefined : { tool, sha256, ...difference(approved, definition) };
  }

  /** What was approved of a tool's annotations, whatever the server says of them now. */
  annotationsOf(tool: string): JsonObject | undefined {
    const annotations = this.#approved.get(tool)?.definition.annotations;
    return isJsonObject(annotations) ? annotations : undefined;
  }
}

function difference(
  approved: PinnedTool | undefined,
  definition: JsonObject,
): Omit<PinDifference, 'tool' | 'sha256'> {
  if (approved === undefined) return { problem: 'new', fields: [], was: {}, is: {} };
  const members = new Set([...Object.keys(approved.definition), ...Object.keys(definition)]);
  const fields = [...members]
    .filter((member) => textOf(approved.definition, member) !== textOf(definition, member))
    .slice(0, MAX_FIELDS);
  const of = (source: JsonObject) =>
    Object.fromEntries(
      fields
        .filter((member) => source[member] !== undefined)
        .map((member) => [cut(member), textOf(source, member).slice(0, MAX_CHARACTERS)]),
    );
  return { problem: 'changed', fields: fields.map(cut), was: of(approved.definition), is: of(definition) };
}

/** Servers choose the names of members, too. */
function cut(member: string): string {
  return member.slice(0, MAX_NAME_CHARACTERS);
}

/** Of a member that is not there, no text that JSON could have. */
function textOf(source: JsonObject, member: string): string {
  return source[member] === undefined ? '' : canonicalJson(source[member]);
}
