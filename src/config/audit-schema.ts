// `gateway.audit`: the record of who did what.

import { byteSize, choice, section, text } from './schema-kinds.ts';
import { Type } from './schema-type.ts';

export const auditSchema = section(
  {
    file: text({
      description:
        'Required. JSON lines, one record a call and a refused sign-in; relative to this file. Each process needs one ' +
        'of its own.',
    }),
    key: Type.Optional(
      text({
        description:
          'Keys the chain of records and the digests of arguments (HMAC-SHA256). Default: plain SHA-256, which whoever ' +
          'can write the file can make anew.',
        secret: true,
        pattern: '^.{16,}$',
        words: 'at least 16 characters',
      }),
    ),
    arguments: choice(['digest', 'keys', 'full', 'none'], {
      description:
        'What is kept of the arguments of calls: a digest, the names of their members, everything but what looks like ' +
        'a secret by its name, or nothing. Danger: full keeps what people typed.',
      default: 'digest',
    }),
    onFailure: choice(['refuse', 'continue'], {
      description: 'While nothing can be written: whether calls are refused (503) or go on without a record.',
      default: 'refuse',
    }),
    maxSize: byteSize({
      description: 'A file of this size is set aside under a name with the time in it; 0b: never.',
      default: '100mb',
      zero: true,
    }),
  },
  { description: 'A record of every call. Default: none. A change needs a restart.' },
);
