// `gateway.auth`: who may sign in.

import type { SignatureAlgorithm } from './auth-config.ts';
import { choice, list, scopeName, section, standingSection, text } from './schema-kinds.ts';
import { Type } from './schema-type.ts';

const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
] as const satisfies readonly SignatureAlgorithm[];

const url = (description: string) =>
  text({ description, pattern: '^https?://', words: 'an http:// or https:// URL' });

const scopes = (description: string) =>
  list(scopeName(), {
    description,
    default: [],
  });

const introspectionSchema = section(
  {
    endpoint: url('Required. Introspection endpoint (RFC 7662).'),
    clientId: text({ description: 'Required. Our client id there.' }),
    clientSecret: text({ description: 'Required. Our secret there, sent as HTTP Basic.', secret: true }),
  },
  {
    description:
      'Asks the issuer about opaque tokens; what it says is kept for 15s. At most one issuer may have it. Default: opaque ' +
      'tokens are refused.',
  },
);

const issuerSchema = section(
  {
    issuer: url('Required. The exact `iss` of its tokens, to the last slash.'),
    name: Type.Optional(
      text({
        description:
          'What servers know it by, where they are told of callers (docs/credentials.md). Danger: another name makes ' +
          'other people of its subjects there. Default: none.',
        pattern: '^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$',
        words: 'at most 32 lower-case letters, digits or hyphens',
      }),
    ),
    audiences: list(text({ description: 'An `aud`.' }), {
      description:
        'Audiences accepted besides our own resource identifiers; they open every view. Danger: a token meant for ' +
        'another service with that audience opens this one.',
      default: [],
    }),
    jwksUri: Type.Optional(url('Its keys. Default: from its metadata (RFC 8414, then OpenID Connect).')),
    algorithms: list(choice([...ALGORITHMS], { description: 'One algorithm.' }), {
      description: 'Signature algorithms accepted; only asymmetric ones exist here.',
      default: ['RS256', 'PS256', 'ES256', 'EdDSA'],
      minItems: 1,
    }),
    claims: standingSection(
      {
        groups: text({
          description: 'The claim that holds groups; a dotted path leads into objects.',
          default: 'groups',
        }),
        scopes: text({
          description: 'The claim that holds scopes, likewise; where `scope` is absent, `scp` counts.',
          default: 'scope',
        }),
      },
      { description: 'Where its tokens say what.' },
    ),
    introspection: Type.Optional(introspectionSchema),
  },
  { description: 'One authorization server.' },
);

const apiKeySchema = section(
  {
    name: text({ description: 'Required. Its subject, in rules and logs.' }),
    sha256: text({
      description:
        'Required. SHA-256 of the key, hex. Danger: a short or guessable key can be found from it; make one with ' +
        '`openssl rand -base64 32`.',
      pattern: '^[0-9a-f]{64}$',
      words: '64 hex digits in lower case',
    }),
    scopes: scopes('Scopes that it has.'),
    groups: list(text({ description: 'A group.' }), { description: 'Groups that it is in.', default: [] }),
  },
  { description: 'One key for a machine that cannot do OAuth, sent as a bearer token.' },
);

export const authSchema = section(
  {
    issuers: list(issuerSchema, {
      description: 'Authorization servers whose tokens are accepted.',
      default: [],
    }),
    apiKeys: list(apiKeySchema, { description: 'Static keys, by their hash.', default: [] }),
    scopesSupported: scopes('Scopes named in the resource metadata, besides the required ones.'),
    requiredScopes: scopes('Scopes that every token must have; without them 403.'),
  },
  {
    description:
      'Who may sign in. Default: no sign-in, refused at start unless bound to loopback or `insecure` is true.',
  },
);
