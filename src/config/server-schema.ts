// One entry of `mcpServers`: a program that Portico starts, or a service that it calls.

import {
  byteSize,
  choice,
  duration,
  flag,
  freeText,
  integer,
  list,
  map,
  SPELLING,
  section,
  standingSection,
  text,
} from './schema-kinds.ts';
import { Type } from './schema-type.ts';
import { serverAuthSchema } from './server-auth-schema.ts';
import { shapeKeys } from './shape-schema.ts';

/** Names and numbers alike. */
function account(notes: Parameters<typeof text>[0]) {
  return Object.assign(text(notes), { [SPELLING]: true as const });
}

const CLIENT_FEATURE = ['allow', 'deny'] as const;

const rootsSchema = Type.Union(
  [
    choice(CLIENT_FEATURE, { description: 'Ask the caller, or refuse.' }),
    list(
      section(
        {
          uri: text({
            description: 'Required. The root, a file URI.',
            pattern: '^file://',
            words: 'a file:// URI',
          }),
          name: Type.Optional(text({ description: 'What to call it. Default: none.' })),
        },
        { description: 'One root.' },
      ),
      { description: 'A fixed list, answered by Portico itself.' },
    ),
  ],
  {
    description:
      "Whether the server may ask for the caller's file roots: allow, deny, or a fixed list that Portico answers " +
      'itself. Danger: a file server that takes the roots of a remote caller opens the disk of this host. ' +
      'Default: allow for servers with a url, deny for those with a command.',
    patternErrorMessage: 'allow, deny or a list of roots',
  },
);

const clientSchema = standingSection(
  {
    roots: Type.Optional(rootsSchema),
    sampling: choice(CLIENT_FEATURE, {
      description: "Whether the server may have the caller's model write for it (sampling).",
      default: 'allow',
    }),
    elicitation: choice(CLIENT_FEATURE, {
      description: 'Whether the server may put questions to the caller (elicitation).',
      default: 'allow',
    }),
  },
  { description: 'What the server may ask of its callers.' },
);

const tlsSchema = section(
  {
    ca: Type.Optional(
      text({ description: "PEM file of the authorities to trust for this server. Default: the system's." }),
    ),
    cert: Type.Optional(
      text({ description: 'PEM file of our client certificate, with `key`. Default: none is shown.' }),
    ),
    key: Type.Optional(text({ description: 'PEM file of the key of `cert`. Default: none.' })),
  },
  {
    description: "TLS toward a server with a url. Default: the system's authorities, no client certificate.",
  },
);

const launchKeys = {
  command: Type.Optional(
    text({
      description:
        'The program of a stdio server, found on PATH and started without a shell; one that begins with ./ or ../ is ' +
        'relative to this file. Danger: it runs as the user that runs Portico. Default: none; give this or `url`.',
    }),
  ),
  args: list(freeText(), {
    description:
      'Arguments of `command`, each passed as it is. Danger: other users of the host can read them.',
    default: [],
  }),
  env: map(freeText(), {
    description:
      'Environment of the child besides a short safe list (PATH, HOME, LANG, TMPDIR and the like). Nothing else of ' +
      "Portico's own environment reaches it. With isolation principal or session a value may be made for each " +
      'person (docs/credentials.md).',
    default: {},
  }),
  cwd: Type.Optional(
    text({
      description: 'Working folder of the child, relative to this file. Default: the folder of this file.',
    }),
  ),
};

const remoteKeys = {
  url: Type.Optional(
    text({
      description:
        'Endpoint of an HTTP server. A user and password in it become an Authorization header. Default: none; give ' +
        'this or `command`.',
      pattern: '^https?://[^\\s#]+$',
      words: 'an http:// or https:// URL without a fragment',
      secret: true,
    }),
  ),
  headers: map(freeText(), {
    description:
      'Headers sent with every request to the server. Those that the protocol sets (mcp-*, host, content-length, ' +
      'last-event-id and the like) and cookie are refused. Danger: every caller acts with them.',
    default: {},
  }),
  tls: Type.Optional(tlsSchema),
  auth: Type.Optional(serverAuthSchema),
};

const linkKeys = {
  disabled: flag({ description: 'Leaves the server out, as if it were not listed.', default: false }),
  protocol: choice(['auto', 'modern', 'legacy'], {
    description:
      'The protocol era that the server speaks: 2026-07-28 and later (modern), or before (legacy). auto asks it once. ' +
      'Danger: the wrong one makes the server unreachable.',
    default: 'auto',
  }),
  isolation: choice(['auto', 'shared', 'principal', 'session'], {
    description:
      'Who shares one connection or child process: everyone, one person, or one session. auto: a modern server is ' +
      'shared, or of one person where `auth` speaks for the caller; a legacy one is per session. Danger: `shared` lets a server that keeps state mix its callers.',
    default: 'auto',
  }),
  client: clientSchema,
  prefix: Type.Optional(
    text({
      description:
        'What stands before its tool and prompt names where several servers are served as one, with two underscores ' +
        'between; "" for nothing. Danger: a name that two servers then claim is withheld. Default: the slug of its name.',
      pattern: '^[A-Za-z0-9_-]{0,32}$',
      words: 'at most 32 letters, digits, _ or -',
    }),
  ),
};

const boundKeys = {
  startTimeout: duration({
    description: 'How long it may take to start and greet; downloads by npx or uvx count.',
    default: '60s',
  }),
  callTimeout: duration({
    description: 'How long a call may take, from dispatch to the last byte. Progress starts it anew.',
    default: '120s',
  }),
  maxCallTime: duration({
    description: 'What a call never exceeds, whatever its progress. At least `callTimeout`.',
    default: '15m',
  }),
  idleTimeout: duration({
    description: 'An unused link (child process, upstream session) is closed after this long.',
    default: '10m',
  }),
  maxLinks: integer({
    description: 'Most child processes of this server at a time, per replica; beyond it 503.',
    default: 32,
    minimum: 1,
  }),
  maxInFlight: integer({
    description:
      'Most calls under way on one link; more wait in `queue`, where callers take turns. Of eight or more, one caller ' +
      'gets seven eighths at most.',
    default: 256,
    minimum: 1,
  }),
  queue: standingSection(
    {
      max: integer({
        description: 'Most calls that wait on one link; beyond it 503.',
        default: 1024,
        minimum: 0,
      }),
      timeout: duration({ description: 'How long a call waits before it gets 503.', default: '30s' }),
    },
    { description: 'Calls that wait for a place under `maxInFlight`.' },
  ),
  maxMessage: byteSize({
    description:
      'Largest single message of the server. A stdio server that exceeds it is restarted and its calls fail. ' +
      'Danger: every message is held in memory whole.',
    default: '32mb',
  }),
};

const hostingKeys = {
  privateHome: flag({
    description:
      'Gives each process of one person or session a HOME and TMPDIR of its own, empty and removed with it, unless ' +
      '`env` names others; downloads of npx and uvx stay shared. Danger: with false, what one person leaves in the ' +
      'home folder the next one finds.',
    default: true,
  }),
  warm: integer({
    description:
      'Processes kept started for people or sessions to come, where they do not share one. Each counts against ' +
      '`maxLinks`, and gives way when there is no place left. Refused where `env` names the caller.',
    default: 0,
    minimum: 0,
  }),
  resources: Type.Optional(
    section(
      {
        memory: byteSize({
          description:
            'Memory that one process may write to (RLIMIT_DATA). Node itself needs some 700mb of it. Danger: each ' +
            'process of the server has as much.',
          default: '1gb',
        }),
        cpuSeconds: Type.Optional(
          integer({
            description: 'CPU time of one process, then it is killed. Default: no limit.',
            minimum: 1,
          }),
        ),
        openFiles: Type.Optional(
          integer({ description: 'Open files of one process. Default: no limit.', minimum: 3 }),
        ),
      },
      {
        description:
          'Limits that the kernel puts on each process of the server, set with prlimit (Linux). For docker, give it ' +
          'its own in `args`. Default: none.',
      },
    ),
  ),
  user: Type.Optional(
    account({
      description:
        'User to run the server as, by name or number; Portico has to run as root. Default: our own. Danger: as root, ' +
        'a server without it is root too.',
    }),
  ),
  group: Type.Optional(
    account({ description: 'Group to run it as. Default: that of `user`, else our own.' }),
  ),
};

export const serverSchema = section(
  {
    type: Type.Optional(
      choice(['stdio', 'http', 'sse'], {
        description:
          'How the server is reached: a program over its pipes, Streamable HTTP, or the deprecated HTTP+SSE. ' +
          'Default: http where there is a url, else stdio.',
      }),
    ),
    ...launchKeys,
    ...remoteKeys,
    ...linkKeys,
    ...boundKeys,
    ...shapeKeys,
    ...hostingKeys,
  },
  { description: 'One MCP server.' },
);
