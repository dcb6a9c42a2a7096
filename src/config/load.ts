// From a file to a checked, resolved configuration, or to every problem that it has.
import { dirname, resolve } from 'node:path';
import { checkSchema } from './check-schema.ts';
import { readClientSpelling } from './client-spelling.ts';
import type { Config } from './config.ts';
import type { ConfigProblem } from './config-problem.ts';
import type { RuleFindings, RuleInput } from './ledger.ts';
import { parseSource } from './parse-source.ts';
import { PathSet } from './path-set.ts';
import { NO_PINS, readPins } from './pins.ts';
import { readReferencedFiles } from './referenced-files.ts';
import { resolveConfig } from './resolve-config.ts';
import { resolvePlaceholders } from './resolve-placeholders.ts';
import { checkRules } from './rules.ts';
import { type ConfigFile, configSchemaNode } from './schema.ts';
import { secretsOf } from './secrets.ts';
import { readSmallFile } from './small-file.ts';
import { type Finding, locate, nodeAt, type Path, type SourceNode, writtenPath } from './source-tree.ts';

export type LoadedConfig = {
  /** The config file, and all that it was filled in from: what changes of them would change. Absolute paths. */
  readonly files: readonly string[];
} & (
  | { readonly ok: true; readonly config: Config; readonly warnings: readonly ConfigProblem[] }
  | { readonly ok: false; readonly problems: readonly ConfigProblem[] }
);

export interface LoadOptions {
  readonly env: NodeJS.ProcessEnv;
  /** What the command line says in place of `gateway.listen`. */
  readonly listen?: { readonly host?: string; readonly port?: number };
  /** Rules of what is built upon the config, such as access rules, which it knows nothing of by itself. */
  readonly judges?: readonly ConfigJudge[];
  /** For who is about to write it: takes no notice of portico.lock. */
  readonly withoutLock?: true;
}

export type ConfigJudge = (input: RuleInput) => RuleFindings;

export async function loadConfig(file: string, options: LoadOptions): Promise<LoadedConfig> {
  const files = [resolve(file)];
  const read: ReadFile = (path, maxMib) => {
    files.push(path);
    return readSmallFile(path, undefined, maxMib);
  };
  return { ...(await loadBy(read, file, options)), files };
}

/** @param path absolute */
type ReadFile = (path: string, maxMib?: number) => Promise<string>;
type LoadOutcome =
  | Omit<Extract<LoadedConfig, { ok: true }>, 'files'>
  | Omit<Extract<LoadedConfig, { ok: false }>, 'files'>;

async function loadBy(read: ReadFile, file: string, options: LoadOptions): Promise<LoadOutcome> {
  const text = await readSmallFile(file).catch((error: Error) => error);
  if (text instanceof Error) {
    const message = `this config file is of no use: ${text.message}`;
    return refused([{ file, line: 1, column: 1, path: '', message, hint: 'Name another with --config.' }]);
  }
  const { root, findings } = parseSource(text);
  const syntax = findings.map(({ at, message, hint }) => ({ file, ...at, path: '', message, hint }));
  if (root === undefined) return refused(syntax);

  const spelling = readClientSpelling(root);
  const tree = await readTree(spelling.root, { ...options, folder: dirname(resolve(file)), read });
  const problems = [...syntax, ...tree.errors.map((found) => problemAt(file, spelling.root, found))];
  if (tree.config === undefined || problems.length > 0) return refused(problems);
  const warnings = [
    ...spelling.warnings.map((found) => problemAt(file, root, found)),
    ...tree.warnings.map((found) => problemAt(file, spelling.root, found)),
  ];
  return { ok: true, config: tree.config, warnings: warnings.sort(byPlace) };
}

interface TreeResult {
  /** Absent where there are errors. */
  readonly config: Config | undefined;
  readonly errors: readonly Finding[];
  readonly warnings: readonly Finding[];
}

async function readTree(
  root: SourceNode,
  options: LoadOptions & { folder: string; read: ReadFile },
): Promise<TreeResult> {
  const { env, folder, read } = options;
  const readFile = (path: string) => read(resolve(folder, path));
  const filled = await resolvePlaceholders(root, { env, readFile });
  const checked = checkSchema(filled.root);
  const file = withListen(checked.file, options.listen);

  const unresolved = new PathSet(filled.findings.map(({ path }) => path));
  const invalid = new PathSet(checked.invalid);
  const input: RuleInput = {
    file,
    isInvalid: (path) => invalid.covers(path) || unresolved.covers(path),
    isWritten: (path) => nodeAt(root, path) !== undefined,
    personal: filled.personal,
  };
  const rules = [checkRules, ...(options.judges ?? [])].map((judge) => judge(input));
  const files = await readReferencedFiles(file, { folder, env, readFile: read });
  const pinned = options.withoutLock ? NO_PINS : await readPins(file, folder, read);

  // What a missing variable leaves behind is no second mistake, and a disabled server may miss what it likes.
  const errors = [
    ...filled.findings.filter(({ path }) => !isDisabled(file, path)),
    ...[
      ...checked.findings,
      ...rules.flatMap(({ errors }) => errors),
      ...files.errors,
      ...pinned.errors,
    ].filter(({ path }) => !unresolved.covers(path)),
  ];
  const warnings = [...rules.flatMap((found) => found.warnings), ...files.warnings, ...pinned.warnings];
  if (errors.length > 0) return { config: undefined, errors, warnings };
  const secrets = secretsOf(file, filled.substitutions, configSchemaNode);
  const { pem } = files;
  const { personal } = filled;
  return {
    config: resolveConfig({ file, folder, pem, pins: pinned.pins, secrets, personal }),
    errors,
    warnings,
  };
}

function withListen(file: ConfigFile, listen: LoadOptions['listen']): ConfigFile {
  const { gateway } = file;
  return { ...file, gateway: { ...gateway, listen: { ...gateway.listen, ...listen } } };
}

function isDisabled(file: ConfigFile, path: Path): boolean {
  return path[0] === 'mcpServers' && file.mcpServers[String(path[1])]?.disabled === true;
}

function problemAt(file: string, root: SourceNode, { path, on, message, hint }: Finding): ConfigProblem {
  return { file, ...locate(root, path, on), path: writtenPath(root, path), message, hint };
}

function refused(problems: readonly ConfigProblem[]): LoadOutcome {
  return { ok: false, problems: [...problems].sort(byPlace) };
}

function byPlace(one: ConfigProblem, other: ConfigProblem): number {
  return one.line - other.line || one.column - other.column;
}
