// `portico explain`: what a caller sees, and for one thing, which rule decides. It asks nobody: neither issuers nor
// servers, so it speaks of rules and not of what servers have.
import { type AccessPolicy, createAccessPolicy } from '../access/rules/access-policy.ts';
import type { DescribedClause, NamedThing, ServerAccess } from '../access/rules/server-access.ts';
import { callerOfClaims, callerOfToken, NoCaller, type StatedCaller } from '../access/rules/stated-caller.ts';
import { readTarget, splitTarget } from '../access/rules/target-pattern.ts';
import type { Config } from '../config/config.ts';
import { readSmallFile } from '../config/small-file.ts';
import { ShapeFindings } from '../federation/shape-findings.ts';
import { ToolShape } from '../federation/tool-shape.ts';
import { isJsonObject } from '../protocol/json-text.ts';
import { type Output, problemLines } from './check.ts';
import { loadWhole } from './load-whole.ts';

export interface ExplainOptions {
  readonly file: string;
  /** Where the caller stands. */
  readonly from: { readonly kind: 'token' | 'claims'; readonly file: string };
  /** `server`, `server/tool` or `server/{tools|prompts|resources}/name`; everything without it. */
  readonly target: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly stdout: Output;
  readonly stderr: Output;
}

/** Resolves with the exit code. */
export async function explain(options: ExplainOptions): Promise<number> {
  const { file, target, env, stdout, stderr } = options;
  const loaded = await loadWhole(file, { env });
  if (!loaded.ok) {
    stdout.write(problemLines(loaded.problems));
    return 1;
  }
  const { config } = loaded;
  try {
    const caller = await statedCaller(options.from, config);
    stdout.write(explanation(config, caller, target));
    return 0;
  } catch (thrown) {
    if (!(thrown instanceof NoCaller)) throw thrown;
    stderr.write(`portico: ${thrown.message}\n`);
    return 1;
  }
}

async function statedCaller(
  { kind, file }: ExplainOptions['from'],
  { gateway }: Config,
): Promise<StatedCaller> {
  if (gateway.auth === undefined) {
    throw new NoCaller('without gateway.auth nobody is known, and everybody may use everything');
  }
  const context = { auth: gateway.auth, publicUrl: gateway.publicUrl, nowMs: Date.now() };
  const text = await readSmallFile(file).catch((error: Error) => {
    throw new NoCaller(`${file} is of no use: ${error.message}`);
  });
  if (kind === 'token') return callerOfToken(text.trim().replace(/^bearer +/i, ''), context);
  return callerOfClaims(readClaims(text, file), context);
}

function readClaims(text: string, file: string): Record<string, unknown> {
  try {
    const claims: unknown = JSON.parse(text);
    if (isJsonObject(claims)) return claims;
  } catch {
    // Said below.
  }
  throw new NoCaller(`${file} is no JSON object of claims`);
}

/** @throws NoCaller for a target of no server */
function explanation(config: Config, caller: StatedCaller, target: string | undefined): string {
  const policy = createAccessPolicy({
    hasAuth: config.gateway.auth !== undefined,
    access: config.gateway.access,
  });
  const asked = target === undefined || target === '*' ? undefined : splitTarget(target);
  const servers = config.servers.map(({ slug }) => slug).filter((slug) => (asked?.server ?? slug) === slug);
  if (servers.length === 0) throw new NoCaller(`there is no server ${asked?.server}`);
  const lines = [...callerLines(caller, policy), ''];
  for (const server of servers) {
    const access = policy.accessOf(caller.principal, server);
    if (asked?.name === undefined) lines.push(...serverLines(server, access));
    else {
      const thing = { kind: asked.kind, name: asked.name };
      const isThere = existsByConfig(config, server, thing);
      lines.push(
        ...(isThere ? targetLines(String(target), access, thing) : leftOutLines(String(target), server)),
      );
    }
  }
  return `${lines.join('\n')}\n`;
}

function callerLines({ principal, refusedFor }: StatedCaller, policy: AccessPolicy): string[] {
  return [
    row('caller', `${principal.subject} of ${principal.issuer}`),
    row('client', principal.clientId === '' ? '-' : principal.clientId),
    row('groups', words(principal.groups)),
    row('scopes', words(principal.scopes)),
    row('rules', words(policy.rulesFor(principal))),
    ...(refusedFor === undefined ? [] : [row('but', `a token like this is refused (${refusedFor})`)]),
  ];
}

function serverLines(server: string, access: ServerAccess): string[] {
  if (!access.sees()) return [`${server}: nothing, as if it did not exist`];
  const { allows, denies, missing } = access.describe();
  return [
    `${server}:${access.whole ? ' everything' : ''}`,
    ...allows.map((clause) => row('  sees', clauseText(clause))),
    ...denies.map((clause) =>
      row(clause.condition === undefined ? '  hides' : '  refuses', clauseText(clause)),
    ),
    ...missing.map(({ target, scopes }) => row('  lacks', `${words(scopes)}, for calls of ${target}`)),
  ];
}

/** Before any rule: `tools` of the server. */
function existsByConfig({ servers }: Config, slug: string, { kind, name }: NamedThing): boolean {
  const config = servers.find((server) => server.slug === slug);
  if (config === undefined || kind !== 'tools') return true;
  const findings = new ShapeFindings({ warn: () => {} });
  return new ToolShape({ ...config, findings, pins: undefined }).exists(name);
}

function leftOutLines(target: string, server: string): string[] {
  return [`${target}: absent`, row('  since', `tools of the server ${server} leave it out, for everybody`)];
}

function targetLines(target: string, access: ServerAccess, thing: NamedThing): string[] {
  const { allows, denies, missing } = access.describe(thing);
  const hiding = denies.find(({ condition }) => condition === undefined);
  if (access.decide(thing.kind, thing.name).verdict === 'absent') {
    if (hiding !== undefined) return [`${target}: absent`, row('  by', clauseText(hiding))];
    const isRead = readTarget(thing.kind, thing.name) !== undefined;
    return [
      `${target}: absent`,
      row('  since', isRead ? 'no rule grants it' : 'no rule is asked about such a URI'),
    ];
  }
  const certain = allows.filter(({ condition }) => condition === undefined);
  const verdict = missing.length > 0 ? 'visible, but calls need more scopes' : 'visible';
  const isSure = certain.length > 0 && denies.length === 0;
  return [
    `${target}: ${isSure && missing.length === 0 ? 'allowed' : verdict}`,
    ...(certain.length > 0 ? certain.slice(0, 1) : allows).map((clause) => row('  by', clauseText(clause))),
    ...denies.map((clause) => row('  unless', clauseText(clause))),
    ...missing.map(({ target: needing, scopes }) =>
      row('  lacks', `${words(scopes)}, for calls of ${needing}`),
    ),
  ];
}

function clauseText({ rule, target, condition }: DescribedClause): string {
  return `${target}, by the rule ${rule}${condition === undefined ? '' : `, where ${condition}`}`;
}

function row(label: string, text: string): string {
  return `${label.padEnd(10)}${text}`;
}

function words(list: readonly string[]): string {
  return list.length === 0 ? '-' : list.join(' ');
}
