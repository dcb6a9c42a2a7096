// The variables of one person's process, made at its start. What a person's name becomes part of is a path, so the name
// has to be one of a few characters, and the file has to be where its path literally begins.
import { realpath } from 'node:fs/promises';
import { sep } from 'node:path';
import {
  literalFolder,
  type NamePart,
  type PersonalEnv,
  type PersonalField,
  type PersonalFile,
  type PersonalPart,
} from '../../config/personal-value.ts';
import { readSmallFile } from '../../config/small-file.ts';
import type { Caller } from './caller.ts';
import { CredentialFailure } from './credential.ts';
import type { IssuerNames } from './issuer-names.ts';

const SAFE_NAME = /^[A-Za-z0-9._@|-]{1,128}$/;
const DOTS = /^\.+$/;

type Names = Readonly<Record<PersonalField, string>>;

/** @throws CredentialFailure where one of them cannot be made */
export async function personalVariables(
  env: PersonalEnv,
  caller: Caller | undefined,
  issuers: IssuerNames,
): Promise<Record<string, string>> {
  if (caller === undefined) throw new CredentialFailure('no-caller', 'nobody calls');
  const names = safeNames(caller, issuers);
  const variables: Record<string, string> = {};
  for (const [variable, parts] of Object.entries(env)) {
    const texts: string[] = [];
    for (const part of parts) texts.push(await textOf(part, names, variable));
    const value = texts.join('');
    if (value.includes('\0'))
      throw new CredentialFailure('variable', `${variable} would hold a NUL character`);
    variables[variable] = value;
  }
  return variables;
}

function safeNames(caller: Caller, issuers: IssuerNames): Names {
  const { subject } = caller;
  const issuerName = issuers.nameOf(caller);
  if (!SAFE_NAME.test(subject) || DOTS.test(subject)) {
    throw new CredentialFailure('no-caller', 'the subject of a caller is not fit for a path or a variable');
  }
  // A config that names issuers has been checked for it; an empty name would let two people be one.
  return { subject, issuerName: issuerName ?? '' };
}

async function textOf(part: PersonalPart, names: Names, variable: string): Promise<string> {
  if (part.kind !== 'file') return nameText(part, names, variable);
  return readBelow(part, names, variable);
}

function nameText(part: NamePart, names: Names, variable: string): string {
  if (part.kind === 'text') return part.text;
  const text = names[part.field];
  if (text === '')
    throw new CredentialFailure('variable', `${variable}: the issuer of the caller has no name`);
  return text;
}

/** Links are followed, as secret stores use them, and must not lead out of the folder. */
async function readBelow({ path }: PersonalFile, names: Names, variable: string): Promise<string> {
  const written = path.map((part) => nameText(part, names, variable)).join('');
  try {
    const folder = await realpath(literalFolder(path));
    const file = await realpath(written);
    if (!file.startsWith(folder.endsWith(sep) ? folder : folder + sep))
      throw new Error('it leads out of its folder');
    return (await readSmallFile(file)).replace(/\r?\n$/, '');
  } catch (thrown) {
    throw new CredentialFailure('variable', `${variable}: the file of a caller: ${problemOf(thrown)}`);
  }
}

function problemOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return 'it cannot be read';
  const code = 'code' in thrown ? String(thrown.code) : undefined;
  if (code === undefined) return thrown.message;
  return code === 'ENOENT' || code === 'ENOTDIR' ? 'there is no such file' : `it cannot be read (${code})`;
}
