// What the command line asks for, or the one line that says what is wrong with it.
import { parseArgs } from 'node:util';
import { HOST_PATTERN } from '../config/addresses.ts';
import { nearest } from '../config/suggestion.ts';

export type Command =
  | { readonly kind: 'serve'; readonly file: string; readonly listen: { host?: string; port?: number } }
  | { readonly kind: 'check' | 'doctor'; readonly file: string }
  | {
      readonly kind: 'explain';
      readonly file: string;
      readonly from: { readonly kind: 'token' | 'claims'; readonly file: string };
      readonly target: string | undefined;
    }
  | {
      readonly kind: 'audit verify';
      /** The oldest first. */
      readonly files: readonly string[];
      readonly head: string | undefined;
      /** The file that holds the key. */
      readonly keyFile: string | undefined;
    }
  | {
      readonly kind: 'pin';
      readonly file: string;
      readonly server: string | undefined;
      readonly isCheck: boolean;
    }
  | { readonly kind: 'version' | 'help' }
  /** Exit code 2. */
  | { readonly kind: 'mistake'; readonly message: string };

export const DEFAULT_CONFIG_FILE = 'config/portico.yaml';

const COMMANDS = ['serve', 'check', 'doctor', 'explain', 'audit', 'pin'] as const;
const OPTIONS = {
  config: { type: 'string', short: 'c' },
  host: { type: 'string' },
  port: { type: 'string' },
  token: { type: 'string' },
  claims: { type: 'string' },
  head: { type: 'string' },
  key: { type: 'string' },
  server: { type: 'string' },
  check: { type: 'boolean' },
  version: { type: 'boolean', short: 'v' },
  help: { type: 'boolean', short: 'h' },
} as const;

type OptionName = keyof typeof OPTIONS;

export function parseArguments(args: readonly string[], env: NodeJS.ProcessEnv): Command {
  const { tokens } = parseArgs({
    args: [...args],
    options: OPTIONS,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const words: string[] = [];
  const given = new Map<OptionName, string>();
  for (const token of tokens) {
    if (token.kind === 'positional') words.push(token.value);
    if (token.kind !== 'option') continue;
    const mistake = mistakeInOption(token);
    if (mistake !== undefined) return { kind: 'mistake', message: mistake };
    given.set(token.name as OptionName, token.value ?? '');
  }
  if (given.has('help')) return { kind: 'help' };
  if (given.has('version')) return { kind: 'version' };
  return commandFor(words, given, env);
}

interface OptionToken {
  readonly name: string;
  readonly rawName: string;
  readonly value: string | undefined;
  readonly inlineValue: boolean | undefined;
}

function mistakeInOption({ name, rawName, value, inlineValue }: OptionToken): string | undefined {
  if (!Object.hasOwn(OPTIONS, name)) {
    const close = nearest(name, Object.keys(OPTIONS));
    return `there is no option ${rawName}${close === undefined ? '' : `; did you mean --${close}?`}`;
  }
  const takesValue = OPTIONS[name as OptionName].type === 'string';
  if (!takesValue) return value === undefined ? undefined : `${rawName} takes no value`;
  const isMissing = value === undefined || value === '' || (inlineValue === false && value.startsWith('-'));
  return isMissing ? `${rawName} needs a value` : undefined;
}

function commandFor(
  words: readonly string[],
  given: ReadonlyMap<OptionName, string>,
  env: NodeJS.ProcessEnv,
): Command {
  const [word = 'serve', extra] = words;
  const kind = COMMANDS.find((command) => command === word);
  if (kind === undefined) {
    const close = nearest(word, COMMANDS);
    const message = `there is no command ${word}${close === undefined ? '' : `; did you mean ${close}?`}`;
    return { kind: 'mistake', message };
  }
  const misplaced = [...given.keys()].find((name) => !TAKES[kind].includes(name));
  if (misplaced !== undefined) return { kind: 'mistake', message: `${kind} takes no --${misplaced}` };
  if (kind === 'audit') return auditCommand(words, given);
  const unwanted = kind === 'explain' ? words[2] : extra;
  if (unwanted !== undefined) return { kind: 'mistake', message: `${kind} takes no argument ${unwanted}` };

  const file = given.get('config') ?? (env.PORTICO_CONFIG || DEFAULT_CONFIG_FILE);
  if (kind === 'explain') return explainCommand(file, given, extra);
  if (kind === 'pin') return { kind, file, server: given.get('server'), isCheck: given.has('check') };
  return kind === 'serve' ? serveCommand(file, given) : { kind, file };
}

const TAKES: Readonly<Record<(typeof COMMANDS)[number], readonly OptionName[]>> = {
  serve: ['config', 'host', 'port'],
  check: ['config'],
  doctor: ['config'],
  explain: ['config', 'token', 'claims'],
  audit: ['head', 'key'],
  pin: ['config', 'server', 'check'],
};

function auditCommand(
  [, verb, ...files]: readonly string[],
  given: ReadonlyMap<OptionName, string>,
): Command {
  if (verb !== 'verify')
    return { kind: 'mistake', message: 'the only command of audit is audit verify FILE...' };
  if (files.length === 0)
    return { kind: 'mistake', message: 'audit verify needs the files, the oldest first' };
  return { kind: 'audit verify', files, head: given.get('head'), keyFile: given.get('key') };
}

function explainCommand(
  file: string,
  given: ReadonlyMap<OptionName, string>,
  target: string | undefined,
): Command {
  const [token, claims] = [given.get('token'), given.get('claims')];
  if (token !== undefined && claims === undefined) {
    return { kind: 'explain', file, from: { kind: 'token', file: token }, target };
  }
  if (claims !== undefined && token === undefined) {
    return { kind: 'explain', file, from: { kind: 'claims', file: claims }, target };
  }
  return { kind: 'mistake', message: 'explain takes one of --token and --claims' };
}

function serveCommand(file: string, given: ReadonlyMap<OptionName, string>): Command {
  const host = given.get('host');
  const port = given.get('port');
  if (port !== undefined && !isPort(port)) {
    return { kind: 'mistake', message: '--port takes a number from 0 to 65535' };
  }
  if (host !== undefined && !new RegExp(HOST_PATTERN).test(host)) {
    return { kind: 'mistake', message: '--host takes a host name or an IP address without brackets' };
  }
  const listen = {
    ...(host === undefined ? {} : { host }),
    ...(port === undefined ? {} : { port: Number(port) }),
  };
  return { kind: 'serve', file, listen };
}

function isPort(text: string): boolean {
  return /^\d{1,5}$/.test(text) && Number(text) <= 65_535;
}
