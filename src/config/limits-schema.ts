// `gateway.limits` and `gateway.redis`: how much each caller may use, and where that is counted for all replicas.

import { duration, integer, list, section, text } from './schema-kinds.ts';
import { Type } from './schema-type.ts';

const KEY = '(ip|principal|client|group|server|tool)';

const limitSchema = section(
  {
    name: text({ description: 'Required. Names the limit in metrics and logs.' }),
    key: text({
      description:
        'Required. What is counted apart: ip (IPv6 by /64), principal (issuer and subject), client, group (a caller ' +
        'counts in each of theirs), server, tool, or several with +. Requests without a server or tool are not counted by it.',
      pattern: `^${KEY}(\\+${KEY})*$`,
      words: 'ip, principal, client, group, server, tool, or several joined by +',
    }),
    match: text({ description: 'The target that it counts, as in access rules.', default: '*' }),
    max: Type.Optional(
      integer({
        description:
          'Most in a window. Danger: with `key: ip` it also holds for everyone behind one address together. ' +
          'Default: none; give this or `inFlight`.',
        minimum: 1,
      }),
    ),
    window: duration({
      description:
        'Length of the window. It begins with the first request in it; when it ends, all is free again.',
      default: '1m',
    }),
    inFlight: Type.Optional(
      integer({
        description: 'Most at a time, on each replica; subscriptions do not count. Default: no limit.',
        minimum: 1,
      }),
    ),
    cost: Type.Optional(
      section(
        {
          call: integer({
            description: 'Of tools/call, prompts/get, resources/read, and whatever else makes a server work.',
            default: 1,
            minimum: 0,
          }),
          list: integer({
            description: 'Of lists, discovery, initialize, subscriptions, log levels.',
            default: 1,
            minimum: 0,
          }),
        },
        {
          description:
            'What a request counts for. Without it, a limit with `key: ip` and no `match` holds before sign-in, for ' +
            'every HTTP request. Default: everything counts for one.',
        },
      ),
    ),
    lease: Type.Optional(
      integer({
        description:
          'How much a replica takes from Redis at once. Requests then do not wait for Redis, and the limit may be ' +
          'passed by one lease a replica. Default: each request takes for itself, and the limit is exact.',
        minimum: 1,
      }),
    ),
  },
  { description: 'One limit.' },
);

export const limitsSchema = list(limitSchema, {
  description:
    'How much each caller may use. A request takes from each limit that it falls under, or from none.',
  default: [],
});

export const redisSchema = section(
  {
    url: text({
      description:
        'Required. redis:// or rediss:// with its credentials, as in rediss://:secret@redis:6379/0.',
      pattern: '^rediss?://',
      words: 'a redis:// or rediss:// URL',
      secret: true,
    }),
    keyPrefix: text({ description: 'Put before each key.', default: 'portico:' }),
    timeout: duration({
      description:
        'Longest wait for an answer. After two failures in a row Redis is not asked until it answers again.',
      default: '100ms',
    }),
  },
  {
    description:
      'What replicas share. A change needs a restart. Default: everything is kept in process, for one replica.',
  },
);
