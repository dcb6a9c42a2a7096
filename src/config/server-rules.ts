// Rules within one entry of `mcpServers`.
import { MAX_STRING_BYTES, parseByteSize } from './byte-size.ts';
import { parseDuration } from './duration.ts';
import { type Fault, fault } from './fault.ts';
import { decodePercent } from './percent-encoding.ts';
import type { ServerEntry } from './schema.ts';

export type ServerType = 'stdio' | 'http' | 'sse';
type Launch = Pick<ServerEntry, 'type' | 'command' | 'url'>;

/** How the server is reached, said or inferred. */
export function serverTypeOf({ type, url }: Launch): ServerType {
  return type ?? (url === undefined ? 'stdio' : 'http');
}

export function launchFault(launch: Launch): Fault | undefined {
  const { command, url, type } = launch;
  if (command !== undefined && url !== undefined) {
    return fault('this server has a command and a url', 'Keep the one that reaches it.');
  }
  if (command === undefined && url === undefined) {
    return fault('this server has neither a command nor a url', 'Give the one that reaches it.');
  }
  if (type === 'stdio' && url !== undefined)
    return fault('type is stdio, but there is a url', 'Use http or sse.');
  if (type !== undefined && type !== 'stdio' && command !== undefined) {
    return fault(`type is ${type}, but there is a command`, 'Use stdio.');
  }
  return undefined;
}

/** Keys that mean nothing for the kind of server they stand at; empty ones, as clients write them, do no harm. */
export function misplacedKeys(entry: ServerEntry): string[] {
  const isStdio = serverTypeOf(entry) === 'stdio';
  const foreign = isStdio
    ? ({ headers: entry.headers, tls: entry.tls, auth: entry.auth } as const)
    : {
        args: entry.args,
        env: entry.env,
        cwd: entry.cwd,
        resources: entry.resources,
        user: entry.user,
        group: entry.group,
        warm: entry.warm === 0 ? undefined : [entry.warm],
      };
  return Object.entries(foreign)
    .filter(([, value]) => value !== undefined && Object.keys(value).length > 0)
    .map(([key]) => key);
}

export function serverUrlFault(url: string, headerNames: readonly string[]): Fault | undefined {
  if (!URL.canParse(url)) return fault('this is not a URL', 'As in https://mcp.example.com/mcp.');
  const { username, password } = new URL(url);
  if (decodePercent(`${username}:${password}`) === undefined) {
    return fault('the user or password in the url is not percent-encoded', 'Write %25 for a percent sign.');
  }
  const hasUser = username !== '' || password !== '';
  if (hasUser && headerNames.some((name) => name.toLowerCase() === 'authorization')) {
    return fault('the url holds credentials and there is an Authorization header', 'Keep one of them.');
  }
  return undefined;
}

export function environmentNameFault(name: string): Fault | undefined {
  const isName = name !== '' && !name.includes('=') && !name.includes('\0');
  return isName ? undefined : fault('this is not the name of an environment variable', '');
}

/** The system hands texts to a program with a NUL at their end. */
export function nulFault(text: string): Fault | undefined {
  return text.includes('\0') ? fault('the value holds a NUL character', 'Remove it.') : undefined;
}

/** Of a `callTimeout` that the file itself gives; the default gives way to `maxCallTime`. */
export function callTimeFault(callTimeout: string, maxCallTime: string): Fault | undefined {
  const isWithin = (parseDuration(callTimeout) ?? 0) <= (parseDuration(maxCallTime) ?? 0);
  return isWithin
    ? undefined
    : fault('callTimeout is longer than maxCallTime', 'Raise maxCallTime or lower this.');
}

export function messageSizeFault(size: string): Fault | undefined {
  const isWithin = (parseByteSize(size) ?? 0) <= MAX_STRING_BYTES;
  return isWithin ? undefined : fault('no message can be longer than 511mb', 'Lower it.');
}

export function clientCertificateFault(tls: NonNullable<ServerEntry['tls']>): Fault | undefined {
  const isWhole = (tls.cert === undefined) === (tls.key === undefined);
  return isWhole ? undefined : fault('cert and key come together', 'Give both or neither.');
}

export function eraFault(entry: Pick<ServerEntry, 'type' | 'protocol'>): Fault | undefined {
  const isContradiction = entry.type === 'sse' && entry.protocol === 'modern';
  return isContradiction
    ? fault('modern servers have no HTTP+SSE transport', 'Use type http, or protocol auto.')
    : undefined;
}
