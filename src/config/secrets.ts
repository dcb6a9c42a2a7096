// Which values of a config are secrets, so that the logger can keep them out of every line: what placeholders put
// where a credential may stand, and what is written there in plain sight.

import { isKeyText } from './identity-key.ts';
import { decodePercent } from './percent-encoding.ts';
import type { Substitution } from './resolve-placeholders.ts';
import type { ConfigFile, ServerEntry } from './schema.ts';
import { SECRET } from './schema-kinds.ts';
import { type SchemaNode, schemaAt } from './schema-node.ts';

/** Shorter ones would blot out ordinary words. */
const MIN_CHARACTERS = 4;
/** For places that hold anything, such as arguments and variables with no telling name. */
const MIN_UNNAMED_CHARACTERS = 8;

const TELLING_NAME = /token|secret|passw|pwd|key|auth(?!or)|credential|cookie|private|dsn|signature|session/i;
const PLAIN_HEADER = /^(user-agent|accept-language|cache-control|x-forwarded-.*|x-request-id)$/i;
const PLAIN_VALUE =
  /^(production|development|localhost|\d{1,3}(\.\d{1,3}){3}|[a-z]{2}_[A-Z]{2}\.UTF-?8|~?\.{0,2}\/[\w./-]*)$/;

/** Longest first, so that a value is blotted out before one that it contains. */
export function secretsOf(
  file: ConfigFile,
  substitutions: readonly Substitution[],
  schema: SchemaNode,
): string[] {
  const secrets = new Set<string>();
  for (const { path, value } of substitutions) {
    const isFree = schemaAt(schema, path)?.[SECRET] === true;
    const name = String(path.at(-1));
    const isUnnamed = path.includes('args') || (path.includes('env') && !TELLING_NAME.test(name));
    if (isFree && (!isUnnamed || isUncommon(value))) add(secrets, value);
    if (isFree) addUrlSecrets(secrets, value);
  }
  for (const entry of Object.values(file.mcpServers)) addServerSecrets(secrets, entry);
  const { admin, auth, identity, outbound, redis } = file.gateway;
  for (const key of identity === undefined ? [] : [identity.key, ...identity.next, ...identity.previous]) {
    if (isKeyText(key)) add(secrets, key);
  }
  for (const { introspection } of auth?.issuers ?? []) add(secrets, introspection?.clientSecret);
  if (admin !== false) add(secrets, admin.token);
  addUrlSecrets(secrets, outbound.proxy);
  addUrlSecrets(secrets, redis?.url);
  return [...secrets].sort((one, other) => other.length - one.length);
}

function addServerSecrets(secrets: Set<string>, entry: ServerEntry): void {
  for (const [name, value] of Object.entries(entry.headers)) {
    if (!PLAIN_HEADER.test(name) && (TELLING_NAME.test(name) || isUncommon(value))) add(secrets, value);
    addCredential(secrets, value);
  }
  for (const [name, value] of Object.entries(entry.env)) {
    if (TELLING_NAME.test(name)) add(secrets, value);
    addUrlSecrets(secrets, value);
  }
  for (const [index, argument] of entry.args.entries()) {
    addArgumentSecrets(secrets, argument, entry.args[index + 1]);
  }
  addUrlSecrets(secrets, entry.url);
  const { auth } = entry;
  if (auth !== undefined) add(secrets, auth.type === 'bearer' ? auth.token : clientSecretOf(auth));
}

function clientSecretOf(auth: NonNullable<ServerEntry['auth']>): string | undefined {
  return 'clientSecret' in auth ? auth.clientSecret : undefined;
}

/** `--api-key=x`, `--api-key x`, `Authorization: Bearer x`, a URL with credentials. */
function addArgumentSecrets(secrets: Set<string>, argument: string, next: string | undefined): void {
  const [, flag, joined] = /^--?([\w-]+)(?:=(.*))?$/s.exec(argument) ?? [];
  if (flag !== undefined && TELLING_NAME.test(flag)) add(secrets, joined ?? next);
  addCredential(secrets, argument);
  addUrlSecrets(secrets, joined ?? argument);
}

/** The credential without its scheme: it also turns up alone. */
function addCredential(secrets: Set<string>, value: string): void {
  add(secrets, /\b(?:bearer|basic|token)\s+(\S+)$/i.exec(value)?.[1]);
}

function addUrlSecrets(secrets: Set<string>, text: string | undefined): void {
  if (text === undefined || !/^[a-z][a-z0-9+.-]*:\/\//i.test(text) || !URL.canParse(text)) return;
  const url = new URL(text);
  const userinfo = url.password === '' ? url.username : url.password;
  add(secrets, userinfo);
  add(secrets, decodePercent(userinfo));
  for (const [name, value] of url.searchParams) {
    if (TELLING_NAME.test(name) || isUncommon(value)) add(secrets, value);
  }
}

function isUncommon(value: string): boolean {
  return value.length >= MIN_UNNAMED_CHARACTERS && !PLAIN_VALUE.test(value);
}

function add(secrets: Set<string>, value: string | undefined): void {
  if (value !== undefined && value.trim().length >= MIN_CHARACTERS) secrets.add(value);
}
