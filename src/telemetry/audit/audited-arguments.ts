// What the audit log keeps of a call's arguments: a digest by which two calls can be compared, their names, all of
// them with what looks like a secret taken out, or nothing.
import { isJsonObject, type JsonValue, rawNumber, writeJson } from '../../protocol/json-text.ts';
import type { TextDigest } from './text-digest.ts';

export type ArgumentsKept = 'digest' | 'keys' | 'full' | 'none';

export interface AuditedArgumentsOptions {
  readonly kept: ArgumentsKept;
  /** Without a key, whoever guesses the arguments can tell. */
  readonly digest: TextDigest;
}

/** Members of any depth whose values are never written. */
const SECRET_MEMBER =
  /passw(?:or)?d|passphrase|secret|token|credential|authorization|cookie|api[-_]?key|private[-_]?key|otp|pin$/i;
const MASK = '[redacted]';
/** Beyond it a record would be longer than what it tells of. */
const MAX_FULL_CHARACTERS = 16_384;
const MAX_KEYS = 100;
const MAX_KEY_CHARACTERS = 128;

/** The members that go into the record; none where the call has no arguments, or none are kept. */
export function auditedArguments(
  args: JsonValue | undefined,
  { kept, digest }: AuditedArgumentsOptions,
): { readonly arguments?: string | readonly string[] | JsonValue } {
  if (args === undefined || kept === 'none') return {};
  if (kept === 'digest') return { arguments: digestOf(args, digest) };
  if (kept === 'keys') return { arguments: keysOf(args) };
  const text = writeJson(withoutSecrets(args));
  if (text.length > MAX_FULL_CHARACTERS) return { arguments: digestOf(args, digest) };
  return { arguments: withoutSecrets(args) };
}

/** Of the canonical text (members sorted by name), so that the order in which a client writes them is of no matter. */
function digestOf(args: JsonValue, digest: TextDigest): string {
  // The same key makes the hashes of the chain: what callers choose must never be one.
  const text = digest.algorithm === 'sha256' ? canonical(args) : `arguments ${canonical(args)}`;
  return `${digest.algorithm}:${digest.of(text, 'hex')}`;
}

function canonical(value: JsonValue | undefined): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (!isJsonObject(value)) return rawNumber(value) ?? writeJson(value ?? null);
  const members = Object.keys(value).sort();
  return `{${members.map((name) => `${writeJson(name)}:${canonical(value[name])}`).join()}}`;
}

function keysOf(args: JsonValue): string[] {
  const keys = isJsonObject(args) ? Object.keys(args).slice(0, MAX_KEYS) : [];
  const shortened = (key: string) =>
    key.length > MAX_KEY_CHARACTERS ? `${key.slice(0, MAX_KEY_CHARACTERS)}...` : key;
  return keys.map(shortened).sort();
}

function withoutSecrets(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).flatMap(([name, member]): [string, JsonValue][] =>
    member === undefined ? [] : [[name, SECRET_MEMBER.test(name) ? MASK : withoutSecrets(member)]],
  );
  // Assigned, a member named `__proto__` would not be there.
  return Object.fromEntries(kept);
}
