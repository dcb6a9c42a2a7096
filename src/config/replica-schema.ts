// `gateway.replica`: where other replicas reach this one.
import { HOST_PATTERN } from './addresses.ts';
import { integer, section, text } from './schema-kinds.ts';

export const replicaSchema = section(
  {
    listen: section(
      {
        host: text({
          description:
            'Required. Address to listen on. It answers nobody but other replicas; even so, keep it on a private network.',
          pattern: HOST_PATTERN,
          words: 'a host name or an IP address without brackets',
        }),
        port: integer({
          description: 'Required. Port to listen on; it may not be that of another listener.',
          minimum: 1,
          maximum: 65_535,
        }),
      },
      { description: 'Required. The listener for other replicas.' },
    ),
    url: text({
      description:
        'Required. Where the other replicas reach this one, as in http://10.0.0.5:9091; each replica has its own. ' +
        'Danger: over plain http, what callers send and get is readable on the way.',
      pattern: '^https?://',
      words: 'an http:// or https:// URL',
    }),
    secret: text({
      description:
        'Required. 32 characters or more, at random; the same on all replicas. Danger: whoever holds it speaks for any caller.',
      secret: true,
    }),
  },
  {
    description:
      'Where other replicas reach this one, so that any number of them serve the same sessions (docs/replicas.md). ' +
      'It needs `redis`. A change needs a restart. Default: it is the only one.',
  },
);
