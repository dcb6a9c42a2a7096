// How Portico signs in to a server: the caller's own token never goes there.
import { Type } from 'typebox';
import { choice, list, section, text } from './schema-kinds.ts';

const endpoint = {
  tokenUrl: text({
    description: 'Required. Token endpoint of the authorization server.',
    pattern: '^https?://',
    words: 'a URL',
  }),
  clientId: text({ description: 'Required. Our client id there.' }),
  clientSecret: Type.Optional(
    text({ description: 'Our secret there. Default: none, a public client.', secret: true }),
  ),
  scopes: list(Type.String(), { description: 'Scopes to ask for.', default: [] }),
  resource: Type.Optional(
    text({ description: 'Resource to ask for (RFC 8707). Default: the url of the server.' }),
  ),
};

const bearer = section(
  {
    type: choice(['bearer'], { description: 'Required. The way to sign in.' }),
    token: text({ description: 'Required. The token.', secret: true }),
  },
  { description: 'A fixed bearer token.' },
);

const clientCredentials = section(
  { type: choice(['client_credentials'], { description: 'Required. The way to sign in.' }), ...endpoint },
  { description: 'OAuth 2.1 client credentials: Portico signs in as itself.' },
);

const tokenExchange = section(
  { type: choice(['token_exchange'], { description: 'Required. The way to sign in.' }), ...endpoint },
  { description: 'RFC 8693: a token on behalf of the caller, who then shares no link with others.' },
);

const identity = section(
  { type: choice(['identity'], { description: 'Required. The way to sign in.' }) },
  { description: 'A short-lived JWT signed with `gateway.identity.key` that names the caller.' },
);

export const serverAuthSchema = Type.Union([bearer, clientCredentials, tokenExchange, identity], {
  description:
    'How Portico signs in to the server. Danger: with bearer and client_credentials every caller acts as one. Default: not at all.',
  patternErrorMessage: 'one of the types bearer, client_credentials, token_exchange, identity',
});
