// Who may sign in and who may do what: promised, not available yet.
import { Type } from 'typebox';
import { choice, list, map, section, text } from './schema-kinds.ts';

const words = (description: string) =>
  list(text({ description: 'One value.' }), { description, default: [] });

const introspectionSchema = section(
  {
    endpoint: text({ description: 'Required. Introspection endpoint (RFC 7662).' }),
    clientId: text({ description: 'Required. Our client id there.' }),
    clientSecret: text({ description: 'Required. Our secret there.', secret: true }),
  },
  { description: 'For opaque tokens. Default: none are accepted.' },
);

const issuerSchema = section(
  {
    issuer: text({ description: 'Required. The exact `iss` of its tokens.' }),
    audiences: words(
      'Audiences accepted besides our own resource identifiers; they open every view. Danger: a token meant for another ' +
        'service with that audience opens this one.',
    ),
    jwksUri: Type.Optional(
      text({ description: 'Its keys. Default: from its metadata (RFC 8414, then OpenID Connect).' }),
    ),
    algorithms: list(
      choice(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'], {
        description: 'One algorithm.',
      }),
      {
        description: 'Signature algorithms accepted, asymmetric only.',
        default: ['RS256', 'PS256', 'ES256', 'EdDSA'],
      },
    ),
    claims: Type.Optional(
      section(
        {
          groups: text({ description: 'Where groups stand, a dotted path.', default: 'groups' }),
          scopes: text({ description: 'Where scopes stand, a dotted path.', default: 'scope' }),
        },
        { description: 'Where its tokens say what. Default: groups and scope.' },
      ),
    ),
    introspection: Type.Optional(introspectionSchema),
  },
  { description: 'One authorization server.' },
);

const apiKeySchema = section(
  {
    name: text({ description: 'Required. Its subject.' }),
    sha256: text({
      description: 'Required. SHA-256 of the key, hex.',
      pattern: '^[0-9a-f]{64}$',
      words: '64 hex digits',
    }),
    scopes: words('Scopes that it has.'),
    groups: words('Groups that it is in.'),
  },
  { description: 'One key for a machine that cannot do OAuth.' },
);

export const authSchema = section(
  {
    issuers: list(issuerSchema, {
      description: 'Authorization servers whose tokens are accepted.',
      default: [],
    }),
    apiKeys: list(apiKeySchema, { description: 'Static keys, by their hash.', default: [] }),
    scopesSupported: words('Scopes named in the metadata.'),
    requiredScopes: words('Scopes that every token must have.'),
  },
  {
    description:
      'Who may sign in. Default: no sign-in, refused at start unless bound to loopback or `insecure` is true.',
  },
);

const ruleSchema = section(
  {
    name: text({ description: 'Required. Names the rule in logs and audit.' }),
    when: Type.Optional(
      section(
        {
          groups: words('Groups, any of them.'),
          scopes: words('Scopes, any of them.'),
          subjects: words('Subjects, any of them.'),
          clients: words('Client ids, any of them.'),
          issuers: words('Issuers, any of them.'),
        },
        { description: 'Whom it concerns: all lists given must match. Default: everyone.' },
      ),
    ),
    allow: words('Targets granted.'),
    deny: words('Targets refused, whatever other rules grant.'),
    if: Type.Optional(
      text({
        description: 'A CEL condition, judged at the call; where it errs nothing is granted. Default: none.',
      }),
    ),
  },
  { description: 'One rule.' },
);

export const accessSchema = section(
  {
    rules: list(ruleSchema, { description: 'Rules; what none grants is absent.', default: [] }),
    scopes: map(list(text({ description: 'A scope.' }), { description: 'Scopes.' }), {
      description: 'Scopes that a call of a target needs besides.',
      default: {},
    }),
    scopeImplies: map(list(text({ description: 'A scope.' }), { description: 'Scopes.' }), {
      description: 'Scopes that a scope includes.',
      default: {},
    }),
  },
  { description: 'Who may do what. Default: with sign-in nothing, without it everything.' },
);
