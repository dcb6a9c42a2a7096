// What the official client's OAuth code keeps between its steps. Whoever it sends to the browser, waits here.
import type { OAuthClientProvider } from '@modelcontextprotocol/client';

type Stored<Method extends 'saveTokens' | 'saveClientInformation' | 'saveDiscoveryState'> = Parameters<
  NonNullable<OAuthClientProvider[Method]>
>[0];

export class OAuthKeychain implements OAuthClientProvider {
  readonly redirectUrl: string;
  /** With it the client is known by this address, and registers nowhere. */
  clientMetadataUrl?: string;
  saved: Stored<'saveTokens'> | undefined;
  authorizationUrl: URL | undefined;
  /** How many clients it registered. */
  registrations = 0;
  #client: Stored<'saveClientInformation'> | undefined;
  #discovery: Stored<'saveDiscoveryState'> | undefined;
  #verifier = '';

  constructor(redirectUrl = 'http://127.0.0.1:9/callback') {
    this.redirectUrl = redirectUrl;
  }

  get clientMetadata() {
    return {
      client_name: 'A client of its own',
      redirect_uris: [this.redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      application_type: 'native' as const,
    };
  }
  clientInformation = () => this.#client;
  saveClientInformation(client: Stored<'saveClientInformation'>): void {
    this.registrations += 1;
    this.#client = client;
  }
  tokens = () => this.saved;
  saveTokens(tokens: Stored<'saveTokens'>): void {
    this.saved = tokens;
  }
  redirectToAuthorization(url: URL): void {
    this.authorizationUrl = url;
  }
  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }
  codeVerifier = () => this.#verifier;
  saveDiscoveryState(state: Stored<'saveDiscoveryState'>): void {
    this.#discovery = state;
  }
  discoveryState = () => this.#discovery;
}
