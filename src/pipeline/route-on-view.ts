// Which server of a view a request is for: a look into tables made from what servers list, never a split of a name
// (F29). What is hidden from the caller is not there, and is looked for as long as what nobody has.
import type { CallingClient } from '../bridge/calling-client.ts';
import { listSource } from '../bridge/list-source.ts';
import { GatewayError } from '../errors.ts';
import type { KnownLists, ListPatience, ListSource } from '../federation/known-lists.ts';
import { matchesTemplate } from '../federation/match-template.ts';
import { publicNamesOf, viewNames } from '../federation/merged-list.ts';
import { ownParams, type ViewNames } from '../federation/public-messages.ts';
import { ownUri } from '../federation/public-uris.ts';
import type { CatalogueKind, Listing } from '../federation/server-catalogue.ts';
import { shownTools } from '../federation/shown-tools.ts';
import type { ClientRequest } from '../protocol/client-message.ts';
import { isKnownMethod } from '../protocol/methods.ts';
import type { StopSignal } from '../runtime/stop.ts';
import type { GatewayContext } from './gateway-context.ts';
import { ownRequest } from './own-request.ts';
import type { Permit } from './permit.ts';
import { type RequestSubject, subjectOf } from './request-subject.ts';
import type { NamedKind, View, ViewMember } from './view.ts';

export type ClientAt = (member: ViewMember) => CallingClient;

/** With the request in the server's own words. */
export interface ViewRoute<Request extends ClientRequest = ClientRequest> extends Permit<Request> {
  readonly member: ViewMember;
  /** For what goes back. */
  readonly names: ViewNames;
}

export interface RouteOptions {
  readonly view: View;
  readonly clientAt: ClientAt;
  /** principalKey of the caller. */
  readonly principal: string;
  readonly signal: StopSignal;
}

/** Whether a request is for one server; if not, it concerns all of a view, or nobody. */
export function isForOne(request: ClientRequest): boolean {
  if (!isKnownMethod(request.era, request.method)) return false;
  return subjectOf(request) !== undefined || taskIdOf(request) !== undefined;
}

/**
 * Undefined where the view has no such thing for its caller.
 *
 * @throws GatewayError where the only servers that could have it cannot be asked
 */
export async function routeOnView<Request extends ClientRequest>(
  gateway: GatewayContext,
  request: Request,
  options: RouteOptions,
): Promise<ViewRoute<Request> | undefined> {
  const subject = subjectOf(request);
  if (subject === undefined) return routeTask(gateway, request, options);
  const found =
    subject.kind === 'tools' || subject.kind === 'prompts'
      ? await findNamed(gateway, subject.kind, subject, options)
      : await findResource(gateway, subject, options);
  return found && routeTo(gateway, request, found);
}

/** The same without waiting; undefined where somebody has to be asked, and where the view has no such thing. */
export function routeInMemory<Request extends ClientRequest>(
  gateway: GatewayContext,
  request: Request,
  { view, clientAt }: Pick<RouteOptions, 'view' | 'clientAt'>,
): ViewRoute<Request> | undefined {
  const { kind, name } = subjectOf(request) ?? {};
  if (name === undefined || (kind !== 'tools' && kind !== 'prompts')) return undefined;
  const owners: Found[] = [];
  for (const candidate of candidatesOf(view.named?.[kind].candidates(name) ?? [], clientAt)) {
    const { source } = candidate;
    const listing = gateway.lists.peek(source, kind, gateway.config.lists.staleForMs);
    // It could claim the name too.
    if (listing === undefined) return undefined;
    const owner = ownerIn(listing, { gateway, kind, name, candidate });
    if (owner !== undefined) owners.push(owner);
  }
  const found = soleOf(owners);
  return found && routeTo(gateway, request, found);
}

function routeTo<Request extends ClientRequest>(
  gateway: GatewayContext,
  request: Request,
  { member, names }: Found,
): ViewRoute<Request> {
  const params = ownParams(request.method, request.params, names);
  const own = ownRequest(gateway.shapes.of(member.server.slug), { ...request, params } as Request);
  return { member, names, ...own };
}

interface Found {
  readonly member: ViewMember;
  readonly names: ViewNames;
}

/** A member with the place where its lists are seen, which is to be the same from the first look to the last. */
interface Candidate {
  readonly member: ViewMember;
  readonly source: ListSource;
}

async function findNamed(
  gateway: GatewayContext,
  kind: NamedKind,
  { name }: RequestSubject,
  options: RouteOptions,
): Promise<Found | undefined> {
  if (name === undefined) return undefined;
  const patience = patienceOf(gateway, options.signal);
  const candidates = candidatesOf(options.view.named?.[kind].candidates(name) ?? [], options.clientAt);
  const look = () =>
    candidates.flatMap((candidate) => {
      const listing = gateway.lists.peek(candidate.source, kind, patience.staleForMs);
      return (listing && ownerIn(listing, { gateway, kind, name, candidate })) ?? [];
    });
  await learn(gateway.lists, [kind], candidates, patience);
  const known = look();
  if (known.length > 0) return soleOf(known);
  await refreshAll(gateway.lists, kind, candidates, patience);
  return soleOf(look());
}

interface NameSearch {
  readonly gateway: GatewayContext;
  readonly kind: NamedKind;
  /** The public one. */
  readonly name: string;
  readonly candidate: Candidate;
}

/** The candidate, if what it lists has that name for the caller. */
function ownerIn(
  { table, entries }: Listing,
  { gateway, kind, name, candidate: { member } }: NameSearch,
): Found | undefined {
  const { server, access } = member;
  const shape = gateway.shapes.of(server.slug);
  const shown = kind === 'tools' ? shownTools(shape, table, entries) : entries;
  const names = publicNamesOf(server.slug, server.config.prefix, shown);
  const owner = names.ownerOf(name)?.name;
  const own = owner !== undefined && kind === 'tools' ? shape.ownName(owner) : owner;
  if (own === undefined || access.decide(kind, own).verdict === 'absent') return undefined;
  return { member, names: viewNames(server.slug, kind, names) };
}

/** A name that two claim belongs to neither. */
function soleOf([first, ...others]: readonly Found[]): Found | undefined {
  return others.length === 0 ? first : undefined;
}

/** A URI that names its server is that server's to know; an address on the web is whose list or template has it. */
async function findResource(
  gateway: GatewayContext,
  { kind, name }: RequestSubject,
  options: RouteOptions,
): Promise<Found | undefined> {
  if (name === undefined) return undefined;
  const found = (member: ViewMember): Found => ({ member, names: viewNames(member.server.slug) });
  const { members } = options.view;
  const own = ownUri(name, (slug) => members.some(({ server }) => server.slug === slug));
  if (own !== undefined) {
    const member = members.find(({ server }) => server.slug === own.server);
    return member && found(member);
  }
  const patience = patienceOf(gateway, options.signal);
  const couldHave = members.filter(({ access }) =>
    kind === 'templates' ? access.listsTemplate(name) : access.decide('resources', name).verdict !== 'absent',
  );
  const candidates = candidatesOf(couldHave, options.clientAt);
  const tableOf = ({ source }: Candidate, list: CatalogueKind) =>
    gateway.lists.peek(source, list, patience.staleForMs)?.table;
  const fits = (template: string) =>
    kind === 'templates' ? template === name : matchesTemplate(template, name);
  const look = () => {
    // What a server lists itself is its own, whatever templates of others lead to it too.
    const listed = candidates.filter((candidate) => tableOf(candidate, 'resources')?.has(name));
    if (listed.length > 0) return listed;
    return candidates.filter((candidate) => [...(tableOf(candidate, 'templates')?.keys() ?? [])].some(fits));
  };
  const lists = ['resources', 'templates'] as const;
  await learn(gateway.lists, lists, candidates, patience);
  let owners = look();
  if (owners.length === 0) {
    await Promise.all(lists.map((list) => refreshAll(gateway.lists, list, candidates, patience)));
    owners = look();
  }
  return soleOf(owners.map(({ member }) => found(member)));
}

/** Where a list is seen is worked out for those alone that could have the thing. */
function candidatesOf(members: readonly ViewMember[], clientAt: ClientAt): Candidate[] {
  return members.map((member) => ({ member, source: listSource(member.server, clientAt(member)) }));
}

/**
 * Asks those of which nothing is known yet: what another one claims may be theirs, and would reach that one only because
 * they have not been heard. One that cannot be asked claims nothing.
 */
async function learn(
  lists: KnownLists,
  kinds: readonly CatalogueKind[],
  candidates: readonly Candidate[],
  patience: ListPatience,
): Promise<void> {
  const unheard = kinds.flatMap((kind) =>
    candidates
      .filter(({ source }) => lists.peek(source, kind, patience.staleForMs) === undefined)
      .map(({ source }) => lists.refresh(source, kind, patience)),
  );
  if (unheard.length === 0) return;
  await Promise.allSettled(unheard);
  patience.signal.throwIfAborted();
}

/** @throws GatewayError where none of the candidates could be asked, since any of them may have it */
async function refreshAll(
  lists: KnownLists,
  kind: CatalogueKind,
  candidates: readonly Candidate[],
  patience: ListPatience,
): Promise<void> {
  const refreshed = await Promise.allSettled(
    candidates.map(({ source }) => lists.refresh(source, kind, patience)),
  );
  patience.signal.throwIfAborted();
  const failed = refreshed.filter((outcome) => outcome.status === 'rejected');
  if (failed.length > 0 && failed.length === refreshed.length) throw failed[0]?.reason;
}

/** A task's id is sealed with the server that made it. */
function routeTask<Request extends ClientRequest>(
  { bridge }: GatewayContext,
  request: Request,
  { view: { members }, principal }: RouteOptions,
): ViewRoute<Request> | undefined {
  const taskId = taskIdOf(request);
  if (taskId === undefined) return undefined;
  const member = members.find(({ server }) => {
    const context = { purpose: 'task' as const, principal, server: server.slug, scope: '' };
    return bridge.state.open(taskId, context) !== undefined;
  });
  return member && { member, request, hidden: false, names: viewNames(member.server.slug) };
}

function taskIdOf({ method, params }: ClientRequest): string | undefined {
  return method.startsWith('tasks/') && typeof params?.taskId === 'string' ? params.taskId : undefined;
}

export function patienceOf({ config: { lists } }: GatewayContext, signal: StopSignal): ListPatience {
  return { timeoutMs: lists.timeoutMs, staleForMs: lists.staleForMs, ttlMs: lists.ttlMs, signal };
}

/** What a caller is told of what its view does not have: the words of one that it may not know of. */
export function notOnView(request: ClientRequest): GatewayError {
  const { kind, name } = subjectOf(request) ?? {};
  if (kind === undefined) return new GatewayError('state-invalid', { reason: 'task' });
  if (kind === 'tools') return new GatewayError('target-unknown', { text: 'Unknown tool' });
  if (kind === 'prompts') return new GatewayError('target-unknown', { text: 'Unknown prompt' });
  return new GatewayError('resource-unknown', name === undefined ? {} : { data: { uri: name } });
}
