// A server's tools for the operator: which of them callers can have at all, under which names, and how they stand to
// portico.lock. Asks a server only where its list is not known, and never waits for the answer.
import type { Server } from '../servers/server.ts';
import type { ServerLink } from '../servers/server-link.ts';
import type { ServerCatalogue, TargetTable } from './server-catalogue.ts';
import type { PinState, ReviewedTools, ToolShape } from './tool-shape.ts';

export interface ToolReport {
  /** `personal`: each caller has a list of their own. `unknown`: there is no link, or no answer yet. */
  readonly list: 'known' | 'unknown' | 'personal';
  readonly tools: readonly ReportedTool[];
  /** Tools that found no place in this report. */
  readonly omitted: number;
}

export interface ReportedTool {
  /** The server's own, cut where it is endless. */
  readonly name: string;
  /** What clients call it, where that is something else. */
  readonly shownAs?: string;
  /** Why callers do not get to see it; none where those may whom access rules let. */
  readonly leftOut?: 'not allowed' | 'name clash' | 'not approved' | 'unusable';
  /** Undefined without pins. */
  readonly pin?: PinState;
}

export interface ToolReportParts {
  readonly server: Server;
  readonly shape: ToolShape;
  readonly catalogue: ServerCatalogue;
}

const MAX_TOOLS = 1_000;
const MAX_NAME_CHARACTERS = 200;

export function toolReport({ server, shape, catalogue }: ToolReportParts): ToolReport {
  if (server.personal) return { list: 'personal', tools: [], omitted: 0 };
  const link = server.peekCatalogueLink();
  const table = link === undefined ? undefined : knownTools(link, catalogue);
  if (table === undefined) return { list: 'unknown', tools: [], omitted: 0 };
  const unusable = server.unusableTools.map((name) => ({ name: cut(name), leftOut: 'unusable' as const }));
  const tools = [...reportedTools(table, shape), ...unusable];
  return { list: 'known', tools: tools.slice(0, MAX_TOOLS), omitted: Math.max(0, tools.length - MAX_TOOLS) };
}

function knownTools(link: ServerLink, catalogue: ServerCatalogue): TargetTable | undefined {
  if (link.peer.capabilities.tools === undefined) return new Map();
  const known = catalogue.current(link, 'tools', {});
  // Once for all who ask meanwhile; that it failed is in the log.
  if (known === undefined) catalogue.list(link, 'tools', {}).catch(() => {});
  return known?.table;
}

function reportedTools(table: TargetTable, shape: ToolShape): ReportedTool[] {
  const reviewed = shape.review(table);
  return [...table].map(([own, tool]) => {
    const shown = reviewed.present(tool);
    const pin = shape.pinOf(own, tool);
    const shownAs = shown === undefined || shown.name === own ? undefined : cut(String(shown.name));
    return {
      name: cut(own),
      ...(shownAs !== undefined && { shownAs }),
      ...(shown === undefined && { leftOut: reasonOf(own, shape, reviewed) }),
      ...(pin !== undefined && { pin }),
    };
  });
}

function reasonOf(
  own: string,
  shape: ToolShape,
  reviewed: ReviewedTools,
): NonNullable<ReportedTool['leftOut']> {
  if (!shape.exists(own)) return 'not allowed';
  return reviewed.isClashing(own) ? 'name clash' : 'not approved';
}

function cut(name: string): string {
  return name.length > MAX_NAME_CHARACTERS ? `${name.slice(0, MAX_NAME_CHARACTERS)}…` : name;
}
