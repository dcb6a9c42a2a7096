// Every way to sign in to a server: which source a server's config asks for, and the links and processes that use it.
import type { HttpServerConfig, ServerConfig, StdioServerConfig } from '../../config/config.ts';
import type { ServerAuthConfig } from '../../config/server-auth-config.ts';
import { bearerSource } from './bearer.ts';
import type { Caller } from './caller.ts';
import { clientCredentialsSource } from './client-credentials.ts';
import { type Credential, CredentialFailure, type CredentialSource } from './credential.ts';
import { CredentialReports, type CredentialReportsOptions } from './credential-reports.ts';
import { identitySource } from './identity.ts';
import { credentialRefused, LinkCredential } from './link-credential.ts';
import { personalVariables } from './personal-variables.ts';
import type { SourceOptions } from './source-options.ts';
import { tokenExchangeSource } from './token-exchange.ts';

export interface CredentialsOptions extends SourceOptions, CredentialReportsOptions {}

export interface Credentials {
  /** How the requests of one link are signed in. */
  forLink(server: HttpServerConfig): LinkCredential;
  /**
   * The server's config with the variables of the caller's own process.
   *
   * @throws GatewayError credential-refused
   */
  forProcess(server: StdioServerConfig, caller: Caller | undefined): Promise<StdioServerConfig>;
  /**
   * What only the caller's own token can get, for a replica that does not have it. Undefined where the server takes
   * nothing of the kind; also where it cannot be had, which is reported here and felt over there.
   */
  toHandOver(server: ServerConfig, caller: Caller): Promise<Credential | undefined>;
  /** The server has refused it over there. */
  forgetHandedOver(server: ServerConfig, caller: Caller, credential: Credential): void;
}

export function createCredentials(options: CredentialsOptions): Credentials {
  const reports = new CredentialReports(options);
  const sources = new WeakMap<ServerAuthConfig, CredentialSource>();

  /** One for all links of a server, or each would ask for tokens of its own. */
  function sourceOf(auth: ServerAuthConfig, server: string): CredentialSource {
    const source = sources.get(auth) ?? createSource(auth, server, options);
    sources.set(auth, source);
    return source;
  }

  function exchangeOf(server: ServerConfig): CredentialSource | undefined {
    const auth = server.type === 'stdio' ? undefined : server.auth;
    return auth?.type === 'token_exchange' ? sourceOf(auth, server.slug) : undefined;
  }

  return {
    forLink: (server) =>
      new LinkCredential({
        source: server.auth && sourceOf(server.auth, server.slug),
        report: (failure) => reports.report(server, failure),
      }),
    async forProcess(server, caller) {
      const { personalEnv, env } = server;
      if (personalEnv === undefined) return server;
      try {
        const variables = await personalVariables(personalEnv, caller, options.issuers);
        // What one person's process writes by that person's rights, nobody else's may find.
        return { ...server, env: { ...env, ...variables }, privateHome: true };
      } catch (thrown) {
        if (!(thrown instanceof CredentialFailure)) throw thrown;
        reports.report(server, thrown);
        throw credentialRefused(thrown);
      }
    },
    async toHandOver(server, caller) {
      try {
        return await exchangeOf(server)?.credentialFor(caller);
      } catch (thrown) {
        if (!(thrown instanceof CredentialFailure)) throw thrown;
        reports.report(server, thrown);
        return undefined;
      }
    },
    forgetHandedOver(server, caller, credential) {
      exchangeOf(server)?.forget(credential, caller);
    },
  };
}

/** @returns the source of the credentials of one server, by its slug */
export function createSource(
  auth: ServerAuthConfig,
  server: string,
  options: SourceOptions,
): CredentialSource {
  switch (auth.type) {
    case 'bearer':
      return bearerSource(auth.token);
    case 'client_credentials':
      return clientCredentialsSource(auth, options);
    case 'token_exchange':
      return tokenExchangeSource(auth, server, options);
    case 'identity':
      return identitySource(auth, options);
  }
}
