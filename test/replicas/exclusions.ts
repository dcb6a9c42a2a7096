// What is not run with replicas in the place of a gateway, and why. A file as a whole, or tests of it by the text of
// their names.

export interface Exclusion {
  /** From the root of the repository. */
  readonly file: string;
  /** Parts of the names of tests; without it, the whole file. */
  readonly tests?: readonly string[];
  readonly reason: string;
}

export const EXCLUSIONS: readonly Exclusion[] = [
  {
    file: 'test/bridge/listening/logging.test.ts',
    tests: ["on a modern pipe that everybody shares nobody reads another's lines"],
    reason:
      'One caller asks the shared child whether it has the call of the other, and each replica has a child of its own. ' +
      'Whose turn the log lines are is kept for each child, so callers on two replicas cannot read each other either.',
  },
  {
    file: 'test/bridge/parking/turns.test.ts',
    tests: [
      "a question on the server's own stream belongs to the only call in flight",
      'the first question there is refused, not guessed, while two calls are in flight',
    ],
    reason:
      'Two calls of one client meet on one connection to an HTTP server here. The balancer sends them to two replicas, ' +
      'each with a connection of its own, where each is the only one: a question on it then names its call.',
  },
  {
    file: 'test/bridge/principal-links.test.ts',
    tests: ['lists come from a child that knows the same capabilities'],
    reason:
      'It counts the children of one gateway, and asks one of them which lists it was asked for. A client of 2026-07-28 ' +
      'sees the lists of the replica that it reaches, as docs/replicas.md says.',
  },
  {
    file: 'test/e2e/audit.test.ts',
    reason:
      'Each replica has an audit file of its own, and here it is one path for all; hop-record.services.ts reads theirs.',
  },
  {
    file: 'test/e2e/eras.test.ts',
    tests: ['cancellation: reaches the server', 'list changes: a tool that comes and goes'],
    reason:
      'They change or ask one child process by a call, and look at it by the next one; a child that everyone shares is ' +
      'there once for each replica. list-news.test.ts has what replicas tell each other of lists.',
  },
  {
    file: 'test/e2e/reload.test.ts',
    reason: 'It writes the file of one process anew; each replica has a file of its own.',
  },
  {
    file: 'test/e2e/several-servers-streams.test.ts',
    tests: ['hears of the changes of all servers on its one stream, each kind once'],
    reason:
      'What another replica alone has heard is told some 400 ms later than what this one has: it is gathered into a ' +
      'notification of its own, and the client lists once more than it had to.',
  },
  {
    file: 'test/pipeline/isolation.test.ts',
    tests: ['maxLinks bounds the children'],
    reason: 'maxLinks is of each process: the second caller finds room on another one.',
  },
  {
    file: 'test/pipeline/stream-caps.test.ts',
    reason:
      'streams.maxPerPrincipal is of each process, as docs/replicas.md has it: it bounds what one can hold.',
  },
  {
    file: 'test/servers/server-stats.test.ts',
    tests: ['F06: starts, exits, noise, memory and CPU of children are in /status and in the metrics'],
    reason:
      'It counts the starts, exits and queue of the one child of one gateway. Each replica has a child of its own and ' +
      'tells of that, on an admin listener of its own.',
  },
  {
    file: 'test/servers/stdio/guardian.test.ts',
    tests: ['F07: Portico killed with SIGKILL while twenty wrapped children run: none is alive 5 s later'],
    reason:
      'It looks for all twenty children below one process, and half of them are below the other. What ends the children ' +
      'of a killed process is a guardian of its own, whatever other replicas there are.',
  },
];
