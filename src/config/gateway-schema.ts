// `gateway`: Portico itself.

import { accessSchema } from './access-schema.ts';
import { HOST_PATTERN } from './addresses.ts';
import { auditSchema } from './audit-schema.ts';
import { authSchema } from './auth-schema.ts';
import { identitySchema } from './identity-schema.ts';
import { limitsSchema, redisSchema } from './limits-schema.ts';
import { replicaSchema } from './replica-schema.ts';
import {
  byteSize,
  choice,
  duration,
  flag,
  integer,
  list,
  map,
  section,
  standingSection,
  text,
} from './schema-kinds.ts';
import { Type } from './schema-type.ts';

const PORT = { minimum: 0, maximum: 65_535 };

const addressKeys = {
  listen: standingSection(
    {
      host: text({
        description:
          'Address to listen on. Danger: anything but a loopback address is open to the network; it needs `publicUrl`, ' +
          'and `auth` or `insecure`.',
        default: '127.0.0.1',
        pattern: HOST_PATTERN,
        words: 'a host name or an IP address without brackets',
      }),
      port: integer({ description: 'Port to listen on; 0 takes a free one.', default: 8080, ...PORT }),
      tls: Type.Optional(
        section(
          {
            cert: text({ description: 'Required. PEM file of the certificate chain.' }),
            key: text({ description: 'Required. PEM file of its key.' }),
          },
          {
            description:
              'Ends TLS here. Default: plain HTTP, for use on loopback or behind a proxy that ends it.',
          },
        ),
      ),
    },
    { description: 'The public listener: /mcp and the well-known documents. A change needs a restart.' },
  ),
  admin: Type.Union(
    [
      Type.Literal(false, { description: 'No admin listener.' }),
      standingSection(
        {
          host: text({
            description:
              'Address to listen on. Danger: /metrics and the probes need no token, so keep it away from callers.',
            default: '127.0.0.1',
            pattern: HOST_PATTERN,
            words: 'a host name or an IP address without brackets',
          }),
          port: integer({ description: 'Port to listen on; 0 takes a free one.', default: 9090, ...PORT }),
          hosts: list(text({ description: 'A Host value.' }), {
            description: 'Host values allowed besides IP addresses and loopback names.',
            default: [],
          }),
          token: Type.Optional(
            text({
              description:
                'Bearer token for /status and the console. Default: none; off loopback these then tell nobody anything.',
              secret: true,
              pattern: '^[\\x21-\\x7e]+$',
              words: 'visible ASCII characters',
            }),
          ),
        },
        { description: 'Where the admin listener is.' },
      ),
    ],
    {
      description:
        'The admin listener: /livez, /readyz, /metrics, /status, and a console at /. `false` turns it off. A change needs a restart.',
      default: {},
      patternErrorMessage: 'false, or a section with host and port',
    },
  ),
  publicUrl: Type.Optional(
    text({
      description:
        'The URL under which clients reach Portico, the only source of the URLs that it gives out; used as it is ' +
        'written. A path in it is a base path. No trailing slash, query or fragment. Danger: tokens are issued for ' +
        '{publicUrl}/mcp, so a change locks clients out until they sign in again. A change needs a restart. ' +
        'Default: http://{host}:{port} on a loopback address; mandatory on any other.',
      pattern: '^https?://',
      words: 'an http:// or https:// URL',
    }),
  ),
  insecure: flag({
    description:
      'Serves without sign-in on an address that is not loopback. Danger: whoever reaches the port uses every server.',
    default: false,
  }),
};

const edgeKeys = {
  trustedProxies: list(text({ description: 'An address or a CIDR range.' }), {
    description:
      'Proxies whose X-Forwarded-For names the caller; without any, such headers are ignored. Danger: a range that ' +
      'callers are in lets them choose their address.',
    default: [],
  }),
  origins: list(text({ description: 'An origin, scheme://host[:port].' }), {
    description:
      "Browser origins allowed besides publicUrl's own and, on a loopback address, any loopback origin. Danger: pages " +
      'of an allowed origin may call every tool that their user may.',
    default: [],
  }),
  hosts: list(text({ description: 'A Host value, with its port if it has one.' }), {
    description: "Host values allowed besides publicUrl's and, on a loopback address, loopback names.",
    default: [],
  }),
  bodyLimit: byteSize({ description: 'Largest request body; beyond it 413.', default: '4mb' }),
  maxBuffered: byteSize({
    description:
      'Most bytes held for all exchanges together; beyond it 503. Danger: above the memory there is, the process is killed.',
    default: '512mb',
  }),
};

const stateKeys = {
  sessions: standingSection(
    {
      idleTimeout: duration({
        description: 'A session ends after this long without a request.',
        default: '30m',
      }),
      maxAge: duration({ description: 'A session ends after this long in any case.', default: '24h' }),
      max: integer({ description: 'Most sessions; beyond it 503.', default: 10_000, minimum: 1 }),
      maxPerPrincipal: integer({
        description: 'Most sessions of one caller; beyond it 503.',
        default: 100,
        minimum: 1,
      }),
      replay: standingSection(
        {
          bytes: byteSize({
            description: 'Most bytes kept of one session, over all its streams; 0b keeps none.',
            default: '1mb',
            zero: true,
          }),
          for: duration({ description: 'How long they are kept; 0s keeps none.', default: '5m', zero: true }),
        },
        { description: 'What a broken stream can be resumed from (Last-Event-ID).' },
      ),
    },
    { description: 'Sessions of clients before 2026-07-28.' },
  ),
  streams: standingSection(
    {
      maxPerPrincipal: Type.Optional(
        integer({
          description:
            'Most event streams that one caller holds open beside its calls (subscriptions, and GET streams of ' +
            'sessions), per replica; beyond it 503. Default: 100; without sign-in, where everyone is one caller, no limit.',
          minimum: 1,
        }),
      ),
    },
    { description: 'Event streams that belong to no call.' },
  ),
  processes: standingSection(
    {
      max: integer({
        description:
          'Most processes of all stdio servers together, per replica. Danger: each takes the memory that it takes; ' +
          'above what the host has, the kernel kills.',
        default: 256,
        minimum: 1,
      }),
      maxPerPrincipal: Type.Optional(
        integer({
          description:
            'Most processes of one caller, over all servers. Default: 16; without sign-in, where everyone is one ' +
            'caller, no limit.',
          minimum: 1,
        }),
      ),
    },
    {
      description:
        'Child processes. At a cap the one that has been idle longest is stopped; when all are in use, the answer ' +
        'is 503.',
    },
  ),
  parked: standingSection(
    {
      timeout: duration({
        description: 'A question to the caller is dropped after this long.',
        default: '5m',
      }),
      max: integer({ description: 'Most parked calls; beyond it 503.', default: 1000, minimum: 1 }),
      maxPerPrincipal: integer({
        description: 'Most parked calls of one caller; beyond it 503.',
        default: 20,
        minimum: 1,
      }),
    },
    { description: 'Calls that wait for the answer to a question of their server.' },
  ),
  pins: Type.Optional(
    choice(['enforce', 'warn'], {
      description:
        'What becomes of a tool that is not as portico.lock beside this file has it, or not in there (portico pin writes ' +
        'it). enforce: it is left out. warn: it is served, and spoken of in the log, in /status and in a metric. ' +
        'Default: nothing; tools are what servers say that they are.',
    }),
  ),
  lists: standingSection(
    {
      timeout: duration({
        description:
          'How long `initialize`, `server/discover` and the lists of several servers wait for one that is starting or slow.',
        default: '10s',
      }),
      staleFor: duration({
        description:
          'How long the last known list of a server that is down still counts on a view of several; then its things ' +
          'are absent.',
        default: '5m',
        zero: true,
      }),
      ttl: duration({
        description: 'How long clients are told that they may keep a list.',
        default: '30s',
        zero: true,
      }),
    },
    { description: 'Lists of tools, prompts and resources.' },
  ),
};

const viewKeys = {
  names: choice(['auto', 'prefixed'], {
    description:
      'Names of tools and prompts on /mcp. auto: untouched while one server is configured, else with the prefix of their ' +
      'server. prefixed: always with it.',
    default: 'auto',
  }),
  toolsets: map(
    list(text({ description: 'A target, as in access rules.' }), { description: 'Targets of the set.' }),
    {
      description:
        'Further views at /mcp/~NAME, each of the targets that it lists and nothing else, with a resource ' +
        'identifier of its own. A set grants nothing: access rules hold as they do on /mcp.',
      default: {},
    },
  ),
};

const hostKeys = {
  outbound: standingSection(
    {
      proxy: Type.Optional(
        text({
          description: 'HTTP proxy for requests to servers; an empty one counts as none. Default: none.',
          pattern: '^https?://',
          words: 'an http:// or https:// URL',
          secret: true,
        }),
      ),
      noProxy: list(
        // Empty where a variable is: ["${NO_PROXY:-}"].
        text({
          description: 'One host, or several as NO_PROXY lists them.',
          pattern: '^.*$',
          words: 'one line',
        }),
        {
          description:
            'Hosts that are reached without the proxy, besides loopback ones: names, with all names below them; addresses and CIDR ranges; each with its port if it has one; `*` for all. An item may list several with commas, as the variable NO_PROXY does.',
          default: [],
        },
      ),
      ca: Type.Optional(
        text({ description: "PEM file of authorities to trust besides the system's. Default: none." }),
      ),
    },
    { description: 'Connections from Portico to servers.' },
  ),
  drain: standingSection(
    {
      delay: duration({
        description: 'After SIGTERM, how long connections are still accepted while /readyz says no.',
        default: '0s',
        zero: true,
      }),
      grace: duration({ description: 'How long calls may then take to finish.', default: '20s', zero: true }),
    },
    {
      description:
        'An orderly stop. Danger: a supervisor that kills sooner than delay + grace + 5s cuts calls.',
    },
  ),
  log: standingSection(
    {
      level: choice(['trace', 'debug', 'info', 'warn', 'error', 'silent'], {
        description: 'The least level that is logged.',
        default: 'info',
      }),
    },
    { description: 'JSON lines on standard error.' },
  ),
};

export const gatewayKeys = {
  ...addressKeys,
  ...edgeKeys,
  auth: Type.Optional(authSchema),
  access: Type.Optional(accessSchema),
  identity: Type.Optional(identitySchema),
  limits: limitsSchema,
  redis: Type.Optional(redisSchema),
  replica: Type.Optional(replicaSchema),
  audit: Type.Optional(auditSchema),
  ...stateKeys,
  ...viewKeys,
  ...hostKeys,
};
