// A config file in a folder of its own, for the length of one test.
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { type LoadedConfig, type LoadOptions, loadConfig } from '../../src/config/load.ts';

export interface WrittenConfig {
  readonly folder: string;
  readonly file: string;
}

/** `files` are written beside the config, by their relative names. */
export async function writeConfig(
  t: TestContext,
  text: string,
  { name = 'portico.yaml', files = {} }: { name?: string; files?: Record<string, string> } = {},
): Promise<WrittenConfig> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'portico-config-')));
  t.after(() => rm(folder, { recursive: true, force: true }));
  for (const [relative, content] of Object.entries({ ...files, [name]: text })) {
    await mkdir(dirname(join(folder, relative)), { recursive: true });
    await writeFile(join(folder, relative), content);
  }
  return { folder, file: join(folder, name) };
}

export interface LoadTextOptions extends Partial<LoadOptions> {
  readonly name?: string;
  readonly files?: Record<string, string>;
}

/** Writes, loads; the environment is empty but for what is given, so programs are not found on a PATH. */
export async function loadText(
  t: TestContext,
  text: string,
  options: LoadTextOptions = {},
): Promise<LoadedConfig> {
  const { env = {}, listen, judges, ...writing } = options;
  const { file } = await writeConfig(t, text, writing);
  return loadConfig(file, {
    env,
    ...(listen === undefined ? {} : { listen }),
    ...(judges === undefined ? {} : { judges }),
  });
}

/** @throws with every problem, where the config does not load */
export async function loadedConfig(t: TestContext, text: string, options: LoadTextOptions = {}) {
  const loaded = await loadText(t, text, options);
  if (!loaded.ok) throw new Error(problemTexts(loaded).join('\n'));
  return loaded;
}

/** `line:column path: message. hint` of each problem, or of each warning. */
export function problemTexts(loaded: LoadedConfig): string[] {
  const problems = loaded.ok ? loaded.warnings : loaded.problems;
  return problems.map(({ line, column, path, message, hint }) =>
    `${line}:${column} ${path}: ${message}. ${hint}`.trim(),
  );
}
