// What a config points to outside itself: certificates are read, folders and programs looked for.
import { access, constants } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import { isKeyText, parseIdentityKey } from './identity-key.ts';
import type { ConfigFile, ServerEntry } from './schema.ts';
import { isFolder, readSmallFile } from './small-file.ts';
import type { Finding, Path } from './source-tree.ts';

export interface ReferencedFiles {
  /** PEM texts, and keys, by the path that the config gives. */
  readonly pem: ReadonlyMap<string, string>;
  readonly errors: readonly Finding[];
  readonly warnings: readonly Finding[];
}

interface TlsFiles {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

export async function readReferencedFiles(
  file: ConfigFile,
  options: {
    folder: string;
    env: NodeJS.ProcessEnv;
    /** By an absolute path. */
    readFile?: (path: string) => Promise<string>;
  },
): Promise<ReferencedFiles> {
  const reader = new Reader(options.folder, options.readFile);
  const { identity, listen, outbound } = file.gateway;
  if (listen.tls !== undefined) await reader.readTls(listen.tls, ['gateway', 'listen', 'tls']);
  if (outbound.ca !== undefined) await reader.readTls({ ca: outbound.ca }, ['gateway', 'outbound']);
  if (identity !== undefined) await reader.readIdentity(identity);
  for (const [name, entry] of Object.entries(file.mcpServers)) {
    if (entry.disabled) continue;
    const path = ['mcpServers', name];
    if (entry.tls !== undefined) await reader.readTls(entry.tls, [...path, 'tls']);
    await reader.checkProgram(entry, path, options.env);
  }
  return reader;
}

class Reader implements ReferencedFiles {
  readonly pem = new Map<string, string>();
  readonly errors: Finding[] = [];
  readonly warnings: Finding[] = [];
  readonly #folder: string;

  readonly #readFile: (path: string) => Promise<string>;

  constructor(folder: string, readFile: (path: string) => Promise<string> = readSmallFile) {
    this.#folder = folder;
    this.#readFile = readFile;
  }

  async readTls(files: TlsFiles, path: Path): Promise<void> {
    const texts: { ca?: string; cert?: string; key?: string } = {};
    for (const role of ['ca', 'cert', 'key'] as const) {
      const name = files[role];
      if (name === undefined) continue;
      const text = await this.#readPem(name, [...path, role]);
      if (text !== undefined) texts[role] = text;
    }
    if (Object.keys(texts).length < Object.keys(files).length) return;
    try {
      createSecureContext(texts);
    } catch {
      const message =
        files.key === undefined
          ? 'these certificates cannot be used'
          : 'cert and key cannot be used together';
      this.errors.push({
        path,
        on: 'key',
        message,
        hint: 'Check that they are whole, not encrypted, and a pair.',
      });
    }
  }

  async readIdentity(identity: NonNullable<ConfigFile['gateway']['identity']>): Promise<void> {
    const path = ['gateway', 'identity'];
    await this.#readKey(identity.key, [...path, 'key'], true);
    for (const list of ['next', 'previous'] as const) {
      for (const [index, key] of identity[list].entries())
        await this.#readKey(key, [...path, list, index], false);
    }
  }

  async #readKey(key: string, path: Path, signs: boolean): Promise<void> {
    try {
      const text = isKeyText(key) ? key : await readSmallFile(resolve(this.#folder, key));
      this.pem.set(key, text);
      if (parseIdentityKey(text).privateKey !== undefined || !signs) return;
      throw new Error('it is a public key, and the private one signs');
    } catch (error) {
      const reason = error instanceof Error ? error.message : 'it cannot be read';
      this.errors.push({ path, on: 'value', message: `this key is of no use: ${reason}`, hint: '' });
    }
  }

  /** A program that is not there may still come, and `portico check` may run elsewhere: a warning. */
  async checkProgram(entry: ServerEntry, path: Path, env: NodeJS.ProcessEnv): Promise<void> {
    const { command, cwd } = entry;
    if (cwd !== undefined && !(await isFolder(resolve(this.#folder, cwd)))) {
      this.errors.push({ path: [...path, 'cwd'], on: 'value', message: 'there is no such folder', hint: '' });
    }
    if (command === undefined || (await isFound(command, this.#folder, entry.env.PATH ?? env.PATH ?? '')))
      return;
    const message = 'this program is not found here';
    this.warnings.push({
      path: [...path, 'command'],
      on: 'value',
      message,
      hint: /\s/.test(command.trim())
        ? 'There is no shell: command is the program alone, and what follows it goes into args.'
        : 'Install it, or give its full path.',
    });
  }

  async #readPem(name: string, path: Path): Promise<string | undefined> {
    try {
      const text = await this.#readFile(resolve(this.#folder, name));
      if (!text.includes('-----BEGIN ')) throw new Error('it holds no PEM block');
      this.pem.set(name, text);
      return text;
    } catch (error) {
      const reason = error instanceof Error ? error.message : 'it cannot be read';
      this.errors.push({ path, on: 'value', message: `this file is of no use: ${reason}`, hint: '' });
      return undefined;
    }
  }
}

async function isFound(command: string, folder: string, searchPath: string): Promise<boolean> {
  const candidates = /[\\/]/.test(command)
    ? [resolve(folder, command)]
    : searchPath.split(delimiter).map((searched) => join(searched, command));
  for (const candidate of candidates) {
    const isExecutable = await access(candidate, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isExecutable) return true;
  }
  return false;
}
