// What the command line of the benchmark asks for.
import { parseArgs } from 'node:util';
import { GROUP_NAMES, type GroupName } from './groups.ts';

export interface BenchOptions {
  readonly quick: boolean;
  /** Where the rows go as JSON. */
  readonly jsonFile: string | undefined;
  readonly groups: readonly GroupName[];
  readonly peers: readonly Peer[];
  readonly rounds: number;
  readonly forMs: number;
}

/** Another gateway that already runs, before the bare legacy server of this benchmark. */
export interface Peer {
  readonly name: string;
  readonly url: URL;
}

export const USAGE = `npm run bench -- [options]

Measures Portico against nginx and others, on this machine. Nobody else should be using it.

  --quick            what matters most, in less than a minute
  --json FILE        writes the rows as JSON too
  --only GROUPS      of ${GROUP_NAMES.join(', ')}; separated by commas
  --peer NAME=URL    another MCP gateway, which runs already; its server is to be
                     node bench/raw/stdio-server.ts legacy (or http-server.ts legacy, which prints its port)
  --rounds N         times that each is measured, in turn
  --seconds N        how long each time
  --help
`;

/** @throws Error that says what is wrong with the command line */
export function parseOptions(args: readonly string[]): BenchOptions | 'help' {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      json: { type: 'string' },
      only: { type: 'string' },
      peer: { type: 'string', multiple: true, default: [] },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return 'help';
  const { quick } = values;
  return {
    quick,
    jsonFile: values.json,
    groups: groupsOf(values.only) ?? (quick ? ['small'] : GROUP_NAMES),
    peers: values.peer.map(peerOf),
    rounds: numberOf('--rounds', values.rounds) ?? (quick ? 3 : 5),
    forMs: 1_000 * (numberOf('--seconds', values.seconds) ?? (quick ? 1.2 : 3)),
  };
}

function groupsOf(only: string | undefined): GroupName[] | undefined {
  return only?.split(',').map((name) => {
    const group = GROUP_NAMES.find((known) => known === name);
    if (group === undefined) throw new Error(`--only: there is no ${name}, only ${GROUP_NAMES.join(', ')}`);
    return group;
  });
}

function peerOf(text: string): Peer {
  const [name, url] = text.split(/=(.*)/s);
  if (!name || !url || !URL.canParse(url)) throw new Error(`--peer: expected NAME=URL, not ${text}`);
  return { name, url: new URL(url) };
}

function numberOf(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const number = Number(text);
  if (!(number > 0)) throw new Error(`${option}: expected a number above zero, not ${text}`);
  return number;
}
