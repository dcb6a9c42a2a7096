// A list of all servers of a view: fetched side by side, crossed to the client's era, less what the caller may not see,
// under public names. One page: servers are read to their ends.
import { toolsForLegacyClient } from '../bridge/crossings/legacy-client.ts';
import { listSource } from '../bridge/list-source.ts';
import { visibleOf } from '../bridge/visible-result.ts';
import { GatewayError } from '../errors.ts';
import type { KnownList } from '../federation/known-lists.ts';
import { type MemberList, mergeLists } from '../federation/merged-list.ts';
import { type CatalogueKind, LISTS } from '../federation/server-catalogue.ts';
import { shownTools } from '../federation/shown-tools.ts';
import { type Era, META } from '../protocol/era.ts';
import type { JsonObject } from '../protocol/json-text.ts';
import type { CallForAll } from './call-for-all.ts';
import type { GatewayContext } from './gateway-context.ts';
import { patienceOf } from './route-on-view.ts';
import type { ViewMember } from './view.ts';

/** What lacks a server is soon asked for again. */
const PARTIAL_TTL_MS = 1_000;

const KINDS = Object.keys(LISTS) as CatalogueKind[];

export async function listAll(
  gateway: GatewayContext,
  call: Omit<CallForAll, 'session'>,
): Promise<JsonObject> {
  const { request, view, clientAt, signal } = call;
  const kind = KINDS.find((each) => LISTS[each].method === request.method) as CatalogueKind;
  // None was ever given out.
  if (request.params?.cursor !== undefined) throw new GatewayError('state-invalid', { reason: 'cursor' });
  const target = kind === 'templates' ? 'resources' : kind;
  const members = view.members.filter(({ access }) => access.sees(target));
  const patience = patienceOf(gateway, signal);
  const outcomes = await Promise.allSettled(
    members.map((member) => gateway.lists.list(listSource(member.server, clientAt(member)), kind, patience)),
  );
  signal.throwIfAborted();
  const lists = outcomes.flatMap((outcome, index) => {
    const member = members[index];
    return outcome.status === 'fulfilled' && member !== undefined ? [{ member, known: outcome.value }] : [];
  });
  const [failed] = outcomes.filter(({ status }) => status === 'rejected');
  if (lists.length === 0 && failed?.status === 'rejected') throw failed.reason;
  const { entries, clashes } = mergeLists(
    kind,
    lists.map((list) => memberList(gateway, kind, { ...list, era: request.era })),
  );
  gateway.withheld.note(kind, clashes);
  const result = { [LISTS[kind].member]: [...entries] };
  if (request.era === 'legacy') return result;
  const isPartial = failed !== undefined || lists.some(({ known }) => known.isStale);
  const hints = lists.map(({ known }) => known.listing.ttlMs ?? patience.ttlMs);
  return {
    resultType: 'complete',
    ...result,
    ttlMs: Math.min(patience.ttlMs, ...hints, isPartial ? PARTIAL_TTL_MS : Number.POSITIVE_INFINITY),
    cacheScope: 'private',
    _meta: { [META.serverInfo]: { ...gateway.identity } },
  };
}

/** Found by the server's own names and words, before any of them becomes another. */
function memberList(
  { shapes }: GatewayContext,
  kind: CatalogueKind,
  { member: { server, access }, known: { listing, link }, era }: ListedMember,
): MemberList {
  const { table, entries } = listing;
  const visible = visibleOf(LISTS[kind].method, entries, access);
  const names = { server: server.slug, prefix: server.config.prefix };
  if (kind !== 'tools') return { ...names, whole: entries, entries: visible };
  const shape = shapes.of(server.slug);
  const shown = shownTools(shape, table, visible);
  const isNewer = era === 'legacy' && link.peer.era === 'modern';
  return {
    ...names,
    whole: shownTools(shape, table, entries),
    entries: isNewer ? toolsForLegacyClient(shown) : shown,
  };
}

interface ListedMember {
  readonly member: ViewMember;
  readonly known: KnownList;
  /** Of the client. */
  readonly era: Era;
}
