// Puts a checked config in the place of the one that runs, in one go: nothing is awaited between its first step and its
// last, so no exchange sees half of it.
import { isDeepStrictEqual } from 'node:util';
import { formatProblem } from '../config/config-problem.ts';
import type { LoadedConfig } from '../config/load.ts';
import { reviewTools } from '../federation/tool-shapes.ts';
import type { PublicServer } from '../http/server.ts';
import { ViewChange } from '../pipeline/view-change.ts';
import type { Edition } from './edition.ts';
import type { Editions } from './editions.ts';
import type { LastingParts } from './lasting-parts.ts';
import type { AppliedReload, RefusedReload } from './reloads.ts';
import { runnableConfig } from './restart-keys.ts';

export interface Running {
  readonly lasting: LastingParts;
  readonly editions: Editions;
  readonly edge: PublicServer;
}

/** @throws Error where nothing can be made of it; then nothing has changed */
export function applyConfig(
  { lasting, editions, edge }: Running,
  { config: wanted, warnings }: Extract<LoadedConfig, { ok: true }>,
): AppliedReload | RefusedReload {
  const { logger } = lasting;
  const { config, needRestart, isOpen } = runnableConfig(editions.current.config, wanted);
  if (isOpen) {
    const problem = `${needRestart.join(', ')}: without gateway.auth this would leave the address in use open to all. Restart Portico to apply it.`;
    return { outcome: 'refused', problems: [problem] };
  }
  if (needRestart.length > 0) {
    logger.warn({ keys: needRestart }, 'these keys changed, and need a restart; the rest is applied');
  }
  for (const warning of warnings) logger.warn(formatProblem(warning));
  if (isDeepStrictEqual(config, editions.current.config)) {
    return { outcome: 'unchanged', facts: { needRestart } };
  }
  const before = editions.replace(config);
  const { current } = editions;
  edge.apply(current.edge);
  lasting.applyConfig(config);
  // Told before anything is ended: a stream that ends for the change still brings word of it.
  const change = viewChange(before, current);
  lasting.listens.reloaded(change);
  lasting.sessions.announce((view) => change.concerns(view));
  lasting.sessions.moveTo((server) => current.context.servers.get(server.slug));
  editions.retire(before);
  warmUp(current, before);
  return { outcome: 'applied', facts: { ...changesBetween(before, current), needRestart } };
}

/** What is cold would cost the first caller its time. Failures are in the log and in `/status`, and tried again. */
export function warmUp({ authenticator, context }: Edition, before?: Edition): void {
  if (authenticator !== before?.authenticator) authenticator.warmUp();
  for (const [slug, server] of context.servers) {
    if (server.personal) continue;
    const isNew = server !== before?.context.servers.get(slug);
    if (isNew) server.catalogueLink().catch(() => {});
    const shape = context.shapes.of(slug);
    if (isNew || shape !== before?.context.shapes.of(slug))
      void reviewTools(server, shape, context.catalogue);
  }
}

function viewChange(before: Edition, after: Edition): ViewChange {
  const [was, is] = [before.context.servers, after.context.servers];
  const slugs = [...new Set([...was.keys(), ...is.keys()])];
  const isKept = (slug: string) => was.get(slug) === is.get(slug);
  return new ViewChange({
    kept: new Set(slugs.filter(isKept)),
    changed: new Set(slugs.filter((slug) => !isKept(slug))),
    rights: !isDeepStrictEqual(rightsOf(before), rightsOf(after)),
  });
}

/** What decides who sees what, besides the servers. */
function rightsOf({ config: { gateway } }: Edition): unknown {
  return [gateway.auth, gateway.access, gateway.names, gateway.toolsets];
}

function changesBetween(before: Edition, after: Edition): Record<string, unknown> {
  const [was, is] = [before.context, after.context];
  const slugs = [...is.servers.keys()];
  return {
    added: slugs.filter((slug) => !was.servers.has(slug)),
    changed: slugs.filter((slug) => was.servers.has(slug) && was.servers.get(slug) !== is.servers.get(slug)),
    removed: [...was.servers.keys()].filter((slug) => !is.servers.has(slug)),
    auth: after.authenticator !== before.authenticator,
    access: is.access !== was.access,
  };
}
