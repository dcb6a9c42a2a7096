// Keys of `gateway` whose capability is not built yet: their shape is promised, their use refused.
import { Type } from 'typebox';
import { choice, duration, integer, LATER, later, list, map, section, text } from './schema-kinds.ts';

const secretText = (description: string) => text({ description, secret: true });

const limitSchema = section(
  {
    name: text({ description: 'Required. Names the limit in metrics and logs.' }),
    key: text({
      description:
        'Required. What is counted apart: ip, principal, client, group, server, tool, or several with +.',
      pattern: '^(ip|principal|client|group|server|tool)(\\+(ip|principal|client|group|server|tool))*$',
      words: 'ip, principal, client, group, server, tool, or several joined by +',
    }),
    match: text({ description: 'The target that it counts.', default: '*' }),
    max: Type.Optional(
      integer({ description: 'Most in a window. Default: none; give this or `inFlight`.', minimum: 1 }),
    ),
    window: duration({ description: 'Length of the window.', default: '1m' }),
    inFlight: Type.Optional(
      integer({ description: 'Most at a time, per replica. Default: no limit.', minimum: 1 }),
    ),
    cost: map(integer({ description: 'What one counts for.', minimum: 0 }), {
      description: 'What a call or a list counts for.',
      default: {},
    }),
    lease: Type.Optional(
      integer({
        description: 'Takes this many at once from Redis: faster, less exact. Default: exact.',
        minimum: 1,
      }),
    ),
  },
  { description: 'One limit.' },
);

const namesSchema = Object.assign(
  choice(['auto', 'prefixed'], {
    description:
      'Names of tools and prompts on /mcp. auto: untouched while one server is configured. prefixed (not available ' +
      'yet): always with the prefix of their server.',
    default: 'auto',
  }),
  { [LATER]: ['prefixed'] },
);

export const laterGatewayKeys = {
  names: namesSchema,
  limits: later(
    list(limitSchema, {
      description: 'How much each caller may use, each limit on its own. Default: no limits.',
    }),
  ),
  redis: later(
    section(
      {
        url: secretText('Required. redis:// or rediss:// with its credentials.'),
        keyPrefix: text({ description: 'Put before each key.', default: 'portico:' }),
        timeout: duration({ description: 'Longest wait for an answer.', default: '100ms' }),
      },
      { description: 'The store that replicas share. Default: in process, for one replica.' },
    ),
  ),
  replica: later(
    section(
      {
        listen: section(
          {
            host: text({ description: 'Required. Address to listen on.' }),
            port: integer({ description: 'Required. Port to listen on.', minimum: 0, maximum: 65_535 }),
          },
          { description: 'Required. The listener for other replicas.' },
        ),
        url: text({ description: 'Required. Where the other replicas reach this one.' }),
        secret: secretText(
          'Required. Shared by all replicas. Danger: whoever holds it speaks for any caller.',
        ),
      },
      { description: 'Where other replicas reach this one. Default: it is the only one.' },
    ),
  ),
  identity: later(
    section(
      { key: secretText('Required. PEM file of the private key.') },
      { description: 'Signs who calls, for servers with `auth: {type: identity}`. Default: none.' },
    ),
  ),
  audit: later(
    section(
      {
        file: text({ description: 'Required. JSON lines, one record a call; relative to this file.' }),
        key: Type.Optional(secretText('Keys the chain of records and their digests. Default: plain hashes.')),
        arguments: choice(['digest', 'keys', 'full', 'none'], {
          description: 'What is kept of arguments. Danger: full keeps what people typed.',
          default: 'digest',
        }),
        onFailure: choice(['refuse', 'continue'], {
          description: 'Whether calls go on while nothing can be written.',
          default: 'refuse',
        }),
      },
      { description: 'A record of every call. Default: none.' },
    ),
  ),
  toolsets: later(
    map(list(text({ description: 'A target.' }), { description: 'Targets of the set.' }), {
      description: 'Further views at /mcp/~NAME, each of the targets it lists. Default: none.',
    }),
  ),
  pins: later(
    choice(['enforce', 'warn'], {
      description:
        'What happens to a tool whose definition is not the one in portico.lock. Default: nothing.',
    }),
  ),
};
