// Access tokens as identity providers document them, for the recipes in docs/auth.md; none of them can be asked here.

export interface ProviderCase {
  /** Values for the placeholders of its config. */
  readonly env: Readonly<Record<string, string>>;
  readonly issuer: string;
  /** The one place where its metadata is. */
  readonly metadataUrl: string;
  readonly jwksUri: string;
  readonly header: Readonly<Record<string, unknown>>;
  /** Of a good access token, besides the times and the issuer. */
  readonly claims: Readonly<Record<string, unknown>>;
  /** Another form of the good token: what differs in header and claims. */
  readonly variant?: {
    readonly header: Readonly<Record<string, unknown>>;
    readonly claims: Readonly<Record<string, unknown>>;
  };
  readonly expected: {
    readonly clientId: string;
    readonly scopes: readonly string[];
    readonly groups: readonly string[];
  };
  /** What else it issues, or issues while something is not set up, as changes of the good one; with the reason. */
  readonly refused: Readonly<Record<string, readonly [Readonly<Record<string, unknown>>, reason: string]>>;
}

const RESOURCE = 'https://mcp.example.com/mcp';
const TENANT = '8eaef023-2b34-4da1-9baa-8bc8c9d6a490';
const ENTRA_API = '6e74172b-be56-4843-9ff4-e66a39bb12e3';
const ENTRA = `https://login.microsoftonline.com/${TENANT}`;
const OKTA = 'https://team.okta.example/oauth2/aus1';
const KEYCLOAK = 'https://keycloak.example.com/realms/team';

export const PROVIDERS: Readonly<Record<string, ProviderCase>> = {
  Keycloak: {
    env: {},
    issuer: KEYCLOAK,
    metadataUrl: `${KEYCLOAK}/.well-known/openid-configuration`,
    jwksUri: `${KEYCLOAK}/protocol/openid-connect/certs`,
    header: { alg: 'RS256', typ: 'JWT' },
    claims: {
      aud: RESOURCE,
      sub: 'f3b0c1d2-0000-4000-8000-000000000001',
      typ: 'Bearer',
      azp: 'client-of-ada',
      sid: 'a-session',
      acr: '1',
      realm_access: { roles: ['offline_access'] },
      scope: 'mcp profile',
      groups: ['eng'],
    },
    expected: { clientId: 'client-of-ada', scopes: ['mcp', 'profile'], groups: ['eng'] },
    refused: {
      'without the audience mapper': [{ aud: 'account' }, 'token_audience'],
      'without any mapper': [{ aud: undefined }, 'token_audience'],
      'without the scope basic': [{ sub: undefined }, 'token_subject'],
      'an ID token': [{ typ: 'ID', aud: [RESOURCE], at_hash: 'x' }, 'token_kind'],
    },
  },
  'Entra ID': {
    env: { ENTRA_TENANT_ID: TENANT, ENTRA_API_CLIENT_ID: ENTRA_API },
    issuer: `${ENTRA}/v2.0`,
    metadataUrl: `${ENTRA}/v2.0/.well-known/openid-configuration`,
    jwksUri: `${ENTRA}/discovery/v2.0/keys`,
    header: { alg: 'RS256', typ: 'JWT' },
    claims: {
      aud: ENTRA_API,
      sub: 'HKZpfaHyWadeOouYlitjrI-KffTm222X5rrV3xDqfKQ',
      azp: '75dbe77f-10a3-4e59-85fd-8c127544f17c',
      azpacr: '0',
      oid: '690222be-ff1a-4d56-abd1-7e4f7d38e474',
      scp: 'access',
      roles: ['Engineers'],
      tid: TENANT,
      ver: '2.0',
    },
    expected: {
      clientId: '75dbe77f-10a3-4e59-85fd-8c127544f17c',
      scopes: ['access'],
      groups: ['Engineers'],
    },
    refused: {
      'a v1.0 token': [{ iss: `https://sts.windows.net/${TENANT}/`, ver: '1.0' }, 'token_issuer'],
      'a token of another tenant': [{ iss: `${ENTRA.replace('8eae', '8222')}/v2.0` }, 'token_issuer'],
      'a token for Microsoft Graph': [{ aud: '00000003-0000-0000-c000-000000000000' }, 'token_audience'],
      'an ID token': [{ scp: undefined, nonce: 'n', aud: ENTRA_API }, 'token_kind'],
      'a token of a machine': [{ scp: undefined, roles: ['Tools.Execute.All'] }, 'token_kind'],
    },
  },
  Okta: {
    env: { OKTA_DOMAIN: 'team.okta.example', OKTA_AUTHORIZATION_SERVER_ID: 'aus1' },
    issuer: OKTA,
    metadataUrl: 'https://team.okta.example/.well-known/oauth-authorization-server/oauth2/aus1',
    jwksUri: `${OKTA}/v1/keys`,
    header: { alg: 'RS256' },
    claims: {
      ver: 1,
      jti: 'AT.0mP4JKAZX1iACIT4vbEDF7LpvDVjxypPMf0D7uX39RE',
      aud: RESOURCE,
      sub: 'ada@example.com',
      cid: 'nmdP1fcyvdVO11AL7ECm',
      uid: '00ujmkLgagxeRrAg20g3',
      scp: ['mcp', 'offline_access'],
      auth_time: 1467142021,
      groups: ['Everyone', 'Engineering'],
    },
    expected: {
      clientId: 'nmdP1fcyvdVO11AL7ECm',
      scopes: ['mcp', 'offline_access'],
      groups: ['Everyone', 'Engineering'],
    },
    refused: {
      'a token of the org itself': [{ iss: 'https://team.okta.example' }, 'token_issuer'],
      'a token for another audience': [{ aud: 'api://default' }, 'token_audience'],
      'an ID token': [{ scp: undefined, cid: undefined, nonce: 'n', aud: RESOURCE }, 'token_kind'],
    },
  },
  Auth0: {
    env: { AUTH0_DOMAIN: 'team.eu.auth0.example' },
    issuer: 'https://team.eu.auth0.example/',
    metadataUrl: 'https://team.eu.auth0.example/.well-known/openid-configuration',
    jwksUri: 'https://team.eu.auth0.example/.well-known/jwks.json',
    header: { alg: 'RS256', typ: 'at+jwt' },
    claims: {
      aud: [RESOURCE, 'https://team.eu.auth0.example/userinfo'],
      sub: 'auth0|123456',
      client_id: 'my_client_id',
      jti: '73WakrfVbNJBaAmhQtEeDv',
      scope: 'openid mcp',
      'https://mcp.example.com/groups': ['eng'],
    },
    // Its own profile, the default.
    variant: {
      header: { typ: 'JWT' },
      claims: { client_id: undefined, azp: 'my_client_id', jti: undefined },
    },
    expected: { clientId: 'my_client_id', scopes: ['openid', 'mcp'], groups: ['eng'] },
    refused: {
      'a token for userinfo alone': [{ aud: 'https://team.eu.auth0.example/userinfo' }, 'token_audience'],
      'an issuer without its slash': [{ iss: 'https://team.eu.auth0.example' }, 'token_issuer'],
    },
  },
};
