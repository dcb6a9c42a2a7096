// `gateway.identity`: the keys with which Portico says who calls.
import { list, section, text } from './schema-kinds.ts';

const key = (description: string) => text({ description, secret: true });

export const identitySchema = section(
  {
    key: key(
      'Required. The private key that signs, as PEM or JWK text or as the path of such a file: EC P-256, ' +
        'Ed25519, or RSA of 2048 bits and more. Danger: whoever holds it can be anyone at every server with ' +
        '`auth: {type: identity}`.',
    ),
    next: list(key('A key, public or private.'), {
      description: 'Keys to publish before they sign, likewise.',
      default: [],
    }),
    previous: list(key('A key, public or private.'), {
      description: 'Keys to publish until what they signed has expired, likewise.',
      default: [],
    }),
  },
  {
    description:
      'Keys for servers with `auth: {type: identity}`, published at /.well-known/jwks.json. Default: none.',
  },
);
