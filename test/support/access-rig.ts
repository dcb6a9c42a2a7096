// The library behind a gateway with sign-in and rules, and callers of either era who know it by their keys.
import { createHash } from 'node:crypto';
import type { TestContext } from 'node:test';
import type { AccessConfig, AccessRuleConfig, RuleAudience } from '../../src/config/access-config.ts';
import type { AuthConfig } from '../../src/config/auth-config.ts';
import type { GatewayConfig } from '../../src/config/config.ts';
import { httpServerConfig } from './http-server-config.ts';
import { type LibraryServer, startLibrary } from './library-server.ts';
import type { LibraryEra } from './library-shelves.ts';
import type { Members, Message } from './raw-client.ts';
import { ModernClient, openSession, type RawSession, type SessionOptions } from './raw-session.ts';
import { type StartedGateway, startGateway } from './start-gateway.ts';

/** A reader, an editor, and one of no group. */
export type Person = 'ann' | 'ben' | 'cal';

/** By the name in their key. `is` names who it is where a person has several keys, with other rights. */
export type People = Readonly<
  Record<string, { readonly groups?: string[]; readonly scopes?: string[]; readonly is?: string }>
>;

const PEOPLE: Readonly<Record<Person, People[string]>> = {
  ann: { groups: ['readers'], scopes: ['mcp', 'read'] },
  ben: { groups: ['editors'], scopes: ['mcp'] },
  cal: { groups: [], scopes: ['mcp'] },
};

export function keyOf(person: string): { readonly headers: { readonly authorization: string } } {
  return { headers: { authorization: `Bearer key-of-${person}-0123456789` } };
}

export interface RuleText extends Partial<Omit<AccessRuleConfig, 'when' | 'name'>> {
  readonly when?: Partial<RuleAudience>;
}

export interface AccessRigOptions {
  readonly era: LibraryEra;
  readonly rules: Readonly<Record<string, RuleText>>;
  readonly access?: Partial<AccessConfig>;
  readonly people?: People;
  readonly auth?: Partial<AuthConfig>;
  readonly gateway?: Partial<GatewayConfig>;
  /** Changes of the server's config. */
  readonly server?: Parameters<typeof httpServerConfig>[1];
}

export interface AccessRig {
  readonly library: LibraryServer;
  readonly gateway: StartedGateway;
  /** `/mcp/library`. */
  readonly view: string;
  modern(person: string, url?: string): ModernClient;
  legacy(person: string, options?: SessionOptions): Promise<RawSession>;
  /** What a person asks, in either era. */
  asks(person: string, clientEra: LibraryEra): Promise<Asker>;
}

export interface Asker {
  ask(method: string, params?: Members): Promise<Message>;
}

/** One at a time: what a gateway leaves behind could not be told from what another one uses. */
export async function startAccessRig(t: TestContext, options: AccessRigOptions): Promise<AccessRig> {
  const { era, rules, access = {}, people = PEOPLE, auth = {}, gateway: changes = {}, server = {} } = options;
  const library = await startLibrary(era);
  const gateway = await startGateway({
    servers: [httpServerConfig(library.url, { slug: 'library', name: 'library', ...server })],
    gateway: {
      auth: { ...authOf(people), ...auth },
      access: { ...accessOf(rules), ...access },
      ...changes,
    },
    secrets: Object.keys(people).map(secretOf),
  });
  const clients: AsyncDisposable[] = [];
  t.after(async () => {
    for (const client of clients) await client[Symbol.asyncDispose]();
    await gateway.close().finally(() => library[Symbol.asyncDispose]());
  });
  const keep = <Client extends AsyncDisposable>(client: Client): Client => {
    clients.push(client);
    return client;
  };
  const modern = (person: string, url = gateway.url) => keep(new ModernClient(url, keyOf(person)));
  const legacy = async (person: string, more: SessionOptions = {}) =>
    keep(await openSession(gateway.url, { ...keyOf(person), ...more }));
  return {
    library,
    gateway,
    view: `${gateway.url}/library`,
    modern,
    legacy,
    asks: async (person, clientEra) => (clientEra === 'modern' ? modern(person) : legacy(person)),
  };
}

export function accessOf(rules: AccessRigOptions['rules']): AccessConfig {
  const nobody = { groups: [], scopes: [], subjects: [], clients: [], issuers: [] };
  const written = Object.entries(rules).map(([name, { when, ...rule }]) => ({
    ...{ allow: [], deny: [], if: undefined },
    ...rule,
    name,
    when: { ...nobody, ...when },
  }));
  return { rules: written, scopes: {}, scopeImplies: {} };
}

export function authOf(people: People): AuthConfig {
  return {
    issuers: [],
    apiKeys: Object.entries(people).map(([name, { groups = [], scopes = ['mcp'], is = name }]) => ({
      name: is,
      sha256: createHash('sha256').update(secretOf(name)).digest('hex'),
      scopes,
      groups,
    })),
    scopesSupported: ['mcp'],
    requiredScopes: ['mcp'],
  };
}

function secretOf(person: string): string {
  return keyOf(person).headers.authorization.slice('Bearer '.length);
}
