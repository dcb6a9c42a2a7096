// The official client with its own OAuth code: it asks, is told where to sign in, waits for the browser, and goes on.
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import { OAuthKeychain } from './oauth-keychain.ts';

export interface OAuthClientOptions {
  readonly url: string;
  readonly mode: 'legacy' | 'modern';
  readonly redirectUrl?: string;
}

export class OAuthClient implements AsyncDisposable {
  readonly keychain: OAuthKeychain;
  readonly #options: OAuthClientOptions;
  #client: Client;
  #transport: StreamableHTTPClientTransport;

  constructor(options: OAuthClientOptions) {
    this.keychain = new OAuthKeychain(options.redirectUrl);
    this.#options = options;
    [this.#client, this.#transport] = this.#make();
  }

  /** Undefined when it is modern, or not connected. */
  get sessionId(): string | undefined {
    return this.#transport.sessionId;
  }

  /** @returns the address to open in a browser, or undefined once connected */
  async connect(): Promise<URL | undefined> {
    [this.#client, this.#transport] = this.#make();
    return this.#orSignIn(() => this.#client.connect(this.#transport));
  }

  /** With what the browser came back with. */
  async finish(query: URLSearchParams): Promise<void> {
    await this.#transport.finishAuth(query);
  }

  /** As the gateway lists them now; a modern client may remember an older list for its `ttlMs`. */
  async tools(): Promise<string[]> {
    const { tools } = await this.#client.listTools(undefined, { cacheMode: 'refresh' });
    return tools.map(({ name }) => name).sort();
  }

  /** The text of the first block. */
  async call(name: string, args: Record<string, unknown> = {}): Promise<string> {
    const { content } = await this.#client.callTool({ name, arguments: args });
    return (content as { text?: string }[])[0]?.text ?? '';
  }

  /** @returns the address to open in a browser, since the call needs more than was allowed so far */
  async callWithoutConsent(name: string): Promise<URL> {
    const address = await this.#orSignIn(() => this.call(name));
    if (address === undefined) throw new Error(`${name} needed no consent`);
    return address;
  }

  /** Its access token looks from now on as one that has run out. */
  wearOut(): void {
    const { saved } = this.keychain;
    if (saved !== undefined) {
      this.keychain.saved = { ...saved, access_token: saved.access_token.slice(0, -8) };
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.sessionId !== undefined) await this.#transport.terminateSession();
    await this.#client.close();
  }

  async #orSignIn(attempt: () => Promise<unknown>): Promise<URL | undefined> {
    this.keychain.authorizationUrl = undefined;
    try {
      await attempt();
      return undefined;
    } catch (thrown) {
      const { authorizationUrl } = this.keychain;
      if (thrown instanceof UnauthorizedError && authorizationUrl !== undefined) return authorizationUrl;
      throw thrown;
    }
  }

  #make(): [Client, StreamableHTTPClientTransport] {
    const { url, mode } = this.#options;
    const client = new Client(
      { name: 'test', version: '1' },
      { versionNegotiation: { mode: mode === 'modern' ? { pin: '2026-07-28' } : 'legacy' } },
    );
    return [client, new StreamableHTTPClientTransport(new URL(url), { authProvider: this.keychain })];
  }
}
