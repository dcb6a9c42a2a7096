// Every rule that looks beyond a single value, each a pure function elsewhere, joined here with the keys it is about.

import { hostValueFault, isEverywhere, originFault, rangeFault } from './addresses.ts';
import * as authRules from './auth-rules.ts';
import type { Fault } from './fault.ts';
import * as gatewayRules from './gateway-rules.ts';
import { Ledger, type RuleFindings, type RuleInput } from './ledger.ts';
import { noProxyFault } from './no-proxy.ts';
import { namesIssuers, personalFault } from './personal-rules.ts';
import { publicUrlDoubt, publicUrlFault } from './public-url.ts';
import * as replicaRules from './replica-rules.ts';
import type { ConfigFile, ServerEntry } from './schema.ts';
import * as serverAuthRules from './server-auth-rules.ts';
import * as serverRules from './server-rules.ts';
import * as shapeRules from './shape-rules.ts';
import { slugOf } from './slug.ts';
import type { Path } from './source-tree.ts';
import { headerNameFault, headerValueFault, repeatedHeader } from './upstream-headers.ts';

export function checkRules(input: RuleInput): RuleFindings {
  const ledger = new Ledger(input);
  checkGateway(input.file.gateway, ledger);
  checkNames(Object.keys(input.file.mcpServers), ledger);
  const entries = Object.entries(input.file.mcpServers);
  if (entries.every(([, entry]) => entry.disabled)) ledger.warn(NO_SERVER, ['mcpServers']);
  for (const [name, entry] of entries) {
    checkServer(entry, ['mcpServers', name], ledger);
    checkServerAuth(entry, ['mcpServers', name], input.file.gateway, ledger);
  }
  checkPersonal(input, ledger);
  return ledger;
}

const NO_SERVER: Fault = {
  message: 'no server is enabled, so there is nothing to serve',
  hint: 'Add one; in a container, mount a folder with a portico.yaml of yours where this file is.',
};

function checkGateway(gateway: ConfigFile['gateway'], ledger: Ledger): void {
  const { listen, admin, publicUrl, insecure } = gateway;
  const host = ['gateway', 'listen', 'host'];
  const url = ['gateway', 'publicUrl'];

  if (publicUrl !== undefined) {
    ledger.refuse(publicUrlFault(publicUrl), url);
    if (publicUrlFault(publicUrl) === undefined) ledger.warn(publicUrlDoubt(publicUrl), url);
  }
  ledger.refuse(gatewayRules.publicUrlMissing(listen.host, publicUrl), host, { reads: [url] });
  const signIn = { host: listen.host, insecure, hasAuth: gateway.auth !== undefined };
  const auth = ['gateway', 'auth'];
  ledger.refuse(gatewayRules.openWithoutSignIn(signIn), host, { reads: [auth, ['gateway', 'insecure']] });
  ledger.warn(gatewayRules.insecureDoubt(signIn), ['gateway', 'insecure'], [auth, host]);
  ledger.warn(gatewayRules.proxiedWithoutSignIn(signIn, publicUrl), url, [auth, host]);
  if (gateway.auth !== undefined) checkAuth(gateway.auth, auth, ledger);
  if (admin !== false) {
    const adminHost = ['gateway', 'admin', 'host'];
    const token = ['gateway', 'admin', 'token'];
    const tokenAt = admin.token === undefined ? adminHost : token;
    ledger.warn(gatewayRules.adminTokenDoubt(admin.host, admin.token), tokenAt, [adminHost, token]);
    ledger.refuse(gatewayRules.listenersCollide(listen, admin), ['gateway', 'admin', 'port'], {
      reads: [host, adminHost, ['gateway', 'listen', 'port']],
    });
    checkEach(admin.hosts, ['gateway', 'admin', 'hosts'], hostValueFault, ledger);
  }
  checkEach(gateway.outbound.noProxy, ['gateway', 'outbound', 'noProxy'], noProxyFault, ledger);
  checkEach(gateway.trustedProxies, ['gateway', 'trustedProxies'], rangeFault, ledger);
  for (const [index, range] of gateway.trustedProxies.entries()) {
    if (isEverywhere(range)) ledger.warn(TRUSTS_EVERYBODY, ['gateway', 'trustedProxies', index]);
  }
  const redisUrl = gateway.redis?.url;
  if (redisUrl !== undefined)
    ledger.refuse(gatewayRules.redisUrlFault(redisUrl), ['gateway', 'redis', 'url']);
  checkReplica(gateway, ledger);
  checkEach(gateway.origins, ['gateway', 'origins'], originFault, ledger);
  checkEach(gateway.hosts, ['gateway', 'hosts'], hostValueFault, ledger);
  const bodyLimit = ['gateway', 'bodyLimit'];
  ledger.refuse(gatewayRules.bodyLimitFault(gateway.bodyLimit), bodyLimit);
  ledger.warn(gatewayRules.bodyLimitDoubt(gateway.bodyLimit, gateway.maxBuffered), bodyLimit, [
    ['gateway', 'maxBuffered'],
  ]);
}

function checkReplica(gateway: ConfigFile['gateway'], ledger: Ledger): void {
  const { replica, listen, admin } = gateway;
  if (replica === undefined) return;
  const path = ['gateway', 'replica'];
  ledger.refuse(replicaRules.redisMissing(gateway), path, { on: 'key', reads: [['gateway', 'redis']] });
  ledger.refuse(replicaRules.replicaUrlFault(replica.url), [...path, 'url']);
  ledger.refuse(replicaRules.replicaSecretFault(replica.secret), [...path, 'secret']);
  const port = [...path, 'listen', 'port'];
  const others = { public: ['listen', listen], admin: ['admin', admin] } as const;
  for (const [name, [key, address]] of Object.entries(others)) {
    if (address === false) continue;
    const reads = ['host', 'port'].map((part) => ['gateway', key, part]);
    ledger.refuse(replicaRules.replicaPortFault(replica.listen, address, name), port, { reads });
  }
}

function checkAuth(auth: NonNullable<ConfigFile['gateway']['auth']>, path: Path, ledger: Ledger): void {
  const issuers = [...path, 'issuers'];
  const apiKeys = [...path, 'apiKeys'];
  ledger.refuse(authRules.nobodyFault(auth), path, { on: 'key', reads: [issuers, apiKeys] });
  for (const [index, { issuer, name, jwksUri, introspection }] of auth.issuers.entries()) {
    const at = (...keys: string[]): Path => [...issuers, index, ...keys];
    ledger.refuse(authRules.issuerFault(issuer), at('issuer'));
    ledger.warn(authRules.plainHttpDoubt(issuer), at('issuer'));
    if (name !== undefined) ledger.refuse(serverAuthRules.issuerNameFault(name), at('name'));
    const endpoints = [
      [jwksUri, at('jwksUri')],
      [introspection?.endpoint, at('introspection', 'endpoint')],
    ] as const;
    for (const [endpoint, place] of endpoints) {
      if (endpoint === undefined) continue;
      ledger.refuse(authRules.endpointFault(endpoint), place);
      ledger.warn(authRules.plainHttpDoubt(endpoint), place);
    }
  }
  for (const index of authRules.secondIntrospections(auth)) {
    ledger.refuse(authRules.SECOND_INTROSPECTION, [...issuers, index, 'introspection'], { on: 'key' });
  }
  refuseRepeated(auth.issuers, 'issuer', issuers, ledger);
  for (const index of authRules.repeated(auth.issuers.map(({ name }, at) => name ?? ` ${at}`))) {
    ledger.refuse(REPEATED, [...issuers, index, 'name']);
  }
  refuseRepeated(auth.apiKeys, 'name', apiKeys, ledger);
  refuseRepeated(auth.apiKeys, 'sha256', apiKeys, ledger);
  for (const key of ['scopesSupported', 'requiredScopes'] as const) {
    ledger.warn(authRules.offlineAccessDoubt(auth[key]), [...path, key]);
  }
}

function refuseRepeated<Key extends string>(
  entries: readonly Readonly<Record<Key, string>>[],
  key: Key,
  path: Path,
  ledger: Ledger,
): void {
  for (const index of authRules.repeated(entries.map((entry) => entry[key]))) {
    ledger.refuse(REPEATED, [...path, index, key]);
  }
}

const REPEATED: Fault = { message: 'an entry above has the same', hint: 'Remove one.' };

const TRUSTS_EVERYBODY: Fault = {
  message: 'this range is every address, so every caller may claim any',
  hint: 'List the addresses of your proxies.',
};

function checkEach(
  values: readonly string[],
  path: Path,
  rule: (value: string) => Fault | undefined,
  ledger: Ledger,
): void {
  for (const [index, value] of values.entries()) ledger.refuse(rule(value), [...path, index]);
}

/** Paths and prefixes are made from slugs, so two names must not share one. */
function checkNames(names: readonly string[], ledger: Ledger): void {
  const firstBySlug = new Map<string, string>();
  for (const name of names) {
    const slug = slugOf(name);
    const first = firstBySlug.get(slug);
    if (first === undefined) {
      firstBySlug.set(slug, name);
      continue;
    }
    const message = `the names ${JSON.stringify(first)} and ${JSON.stringify(name)} both become ${slug} in paths`;
    ledger.refuse({ message, hint: 'Rename one.' }, ['mcpServers', name], { on: 'key' });
  }
}

function checkServer(entry: ServerEntry, path: Path, ledger: Ledger): void {
  const at = (key: string): Path => [...path, key];
  const launchKeys = ['type', 'command', 'url'].map(at);
  const launchFault = serverRules.launchFault(entry);
  ledger.refuse(launchFault, path, { on: 'key', reads: launchKeys });
  if (launchFault === undefined) {
    for (const key of serverRules.misplacedKeys(entry)) {
      const message = `${key} means nothing for a server with a ${entry.url === undefined ? 'command' : 'url'}`;
      ledger.refuse({ message, hint: 'Remove it.' }, at(key), { on: 'key', reads: launchKeys });
    }
  }
  ledger.refuse(serverRules.eraFault(entry), at('protocol'), { reads: [at('type')] });
  if (entry.url !== undefined) {
    ledger.refuse(serverRules.serverUrlFault(entry.url, Object.keys(entry.headers)), at('url'));
  }
  if (entry.tls !== undefined) {
    ledger.refuse(serverRules.clientCertificateFault(entry.tls), at('tls'), { on: 'key' });
  }
  if (ledger.isWritten(at('callTimeout'))) {
    const fault = serverRules.callTimeFault(entry.callTimeout, entry.maxCallTime);
    ledger.refuse(fault, at('callTimeout'), { reads: [at('maxCallTime')] });
  }
  ledger.refuse(serverRules.messageSizeFault(entry.maxMessage), at('maxMessage'));
  checkHeaders(entry.headers, at('headers'), ledger);
  checkProgram(entry, at, ledger);
  checkShape(entry, at, ledger);
}

function checkShape({ tools, overrides }: ServerEntry, at: (key: string) => Path, ledger: Ledger): void {
  for (const list of ['allow', 'deny'] as const) {
    checkEach(tools[list], [...at('tools'), list], shapeRules.globFault, ledger);
  }
  ledger.warn(shapeRules.nothingAllowed(tools), [...at('tools'), 'allow']);
  const path = [...at('overrides'), 'tools'];
  for (const name of shapeRules.repeatedNames(overrides.tools)) {
    ledger.warn(shapeRules.SAME_NAME, [...path, name, 'name']);
  }
  for (const [name, override] of Object.entries(overrides.tools)) {
    if (Object.keys(override).length === 0) ledger.warn(shapeRules.SAYS_NOTHING, [...path, name]);
  }
}

function checkServerAuth(
  { auth, isolation, url, headers }: ServerEntry,
  path: Path,
  gateway: ConfigFile['gateway'],
  ledger: Ledger,
): void {
  if (auth === undefined) return;
  const at = (...keys: string[]): Path => [...path, ...keys];
  const reads = [['gateway', 'auth'], ['gateway', 'identity'], at('auth', 'type')];
  ledger.refuse(serverAuthRules.secondCredentialFault(url, Object.keys(headers)), at('auth'), { on: 'key' });
  ledger.refuse(serverAuthRules.sharedPersonFault({ auth, isolation }), at('isolation'), { reads });
  ledger.refuse(serverAuthRules.nobodyToSpeakFor(auth, gateway), at('auth', 'type'), { reads });
  ledger.warn(serverAuthRules.clearCredentialDoubt(url), at('url'));
  if ('tokenUrl' in auth) {
    ledger.refuse(serverAuthRules.tokenUrlFault(auth.tokenUrl), at('auth', 'tokenUrl'));
    if (auth.resource !== undefined) {
      ledger.refuse(serverAuthRules.resourceFault(auth.resource), at('auth', 'resource'));
    }
  }
}

/** What servers are told of a caller has to be of one person alone. */
function checkPersonal({ file, personal }: RuleInput, ledger: Ledger): void {
  const { gateway, mcpServers } = file;
  let needsNames = Object.values(mcpServers).some(
    ({ auth, disabled }) =>
      auth?.type === 'identity' && !disabled && serverAuthRules.hasSeveralIssuers(gateway),
  );
  for (const { path, value } of personal) {
    const entry = mcpServers[String(path[1])];
    if (entry === undefined || entry.disabled) continue;
    const isolation = [...path.slice(0, 2), 'isolation'];
    ledger.refuse(personalFault(value, entry, gateway), path, { reads: [isolation, ['gateway', 'auth']] });
    needsNames ||= namesIssuers(value);
  }
  if (!needsNames) return;
  for (const index of serverAuthRules.namelessIssuers(gateway)) {
    ledger.refuse(serverAuthRules.NAMELESS_ISSUER, ['gateway', 'auth', 'issuers', index], { on: 'key' });
  }
}

function checkHeaders(headers: Readonly<Record<string, string>>, path: Path, ledger: Ledger): void {
  for (const [name, value] of Object.entries(headers)) {
    ledger.refuse(headerNameFault(name), [...path, name], { on: 'key' });
    ledger.refuse(headerValueFault(value), [...path, name]);
  }
  const repeated = repeatedHeader(Object.keys(headers));
  if (repeated !== undefined) {
    const fault = {
      message: 'this header is already given above in other letters',
      hint: 'Remove one of the two.',
    };
    ledger.refuse(fault, [...path, repeated], { on: 'key' });
  }
}

function checkProgram(entry: ServerEntry, at: (key: string) => Path, ledger: Ledger): void {
  if (entry.command !== undefined) ledger.refuse(serverRules.nulFault(entry.command), at('command'));
  for (const [index, argument] of entry.args.entries()) {
    ledger.refuse(serverRules.nulFault(argument), [...at('args'), index]);
  }
  for (const [name, value] of Object.entries(entry.env)) {
    ledger.refuse(serverRules.environmentNameFault(name), [...at('env'), name], { on: 'key' });
    ledger.refuse(serverRules.nulFault(value), [...at('env'), name]);
  }
}
