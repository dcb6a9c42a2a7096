// How Portico signs in to a server: the caller's own token never goes there.

import { choice, list, scopeName, section, text } from './schema-kinds.ts';
import { Type } from './schema-type.ts';

const endpoint = {
  tokenUrl: text({
    description: 'Required. Token endpoint of the authorization server; https, but for a loopback address.',
    pattern: '^https?://',
    words: 'a URL',
  }),
  clientId: text({ description: 'Required. Our client id there.' }),
  clientSecret: Type.Optional(
    text({ description: 'Our secret there. Default: none, a public client.', secret: true }),
  ),
  clientAuth: choice(['basic', 'post'], {
    description: 'Whether the secret is sent as HTTP Basic or in the form.',
    default: 'basic',
  }),
  scopes: list(scopeName(), { description: 'Scopes to ask for.', default: [] }),
  resource: Type.Optional(
    text({
      description:
        'Resource to ask for (RFC 8707). Default: the url of the server without its query; none where there is an `audience`.',
    }),
  ),
  audience: Type.Optional(
    text({
      description:
        'Audience to ask for, where the authorization server wants that in place of a resource. Default: none.',
    }),
  ),
};

const typeOf = <const Name extends string>(name: Name) =>
  choice([name], { description: 'Required. The way to sign in.' });

const bearer = section(
  {
    type: typeOf('bearer'),
    token: text({
      description: 'Required. The token.',
      secret: true,
      pattern: '^[\\x21-\\x7e]+$',
      words: 'visible ASCII characters',
    }),
  },
  { description: 'A fixed bearer token.' },
);

const clientCredentials = section(
  { type: typeOf('client_credentials'), ...endpoint },
  { description: 'OAuth 2.1 client credentials: Portico signs in as itself.' },
);

const tokenExchange = section(
  { type: typeOf('token_exchange'), ...endpoint },
  { description: 'RFC 8693: a token on behalf of the caller, who then shares no link with others.' },
);

const identity = section(
  {
    type: typeOf('identity'),
    audience: Type.Optional(
      text({ description: 'The `aud` of the JWT. Default: the url of the server without its query.' }),
    ),
  },
  {
    description:
      'A short-lived JWT signed with `gateway.identity.key` that names the caller, who then shares no link with others.',
  },
);

export const serverAuthSchema = Type.Union([bearer, clientCredentials, tokenExchange, identity], {
  description:
    'How Portico signs in to a server with a url (docs/credentials.md). Danger: with bearer and client_credentials ' +
    'every caller acts as one. Default: not at all.',
  patternErrorMessage: 'a section whose type is bearer, client_credentials, token_exchange or identity',
});
