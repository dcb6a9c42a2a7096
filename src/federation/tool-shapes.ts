// The shapes of all servers' tools, and the watch over their lists: an operator should hear of what does not fit when
// a server lists it, not when somebody calls it.
import { isDeepStrictEqual } from 'node:util';
import type { Config } from '../config/config.ts';
import type { Server } from '../servers/server.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { ServerCatalogue } from './server-catalogue.ts';
import { ShapeFindings } from './shape-findings.ts';
import { ToolShape } from './tool-shape.ts';

export class ToolShapes {
  readonly #bySlug: ReadonlyMap<string, Shaped>;

  /** @param before those of the config before: taken over where the two say the same */
  constructor({ servers, gateway }: Config, logger: Logger, before?: ToolShapes) {
    const shaped = servers.map((server): [string, Shaped] => {
      const { slug } = server;
      const { mode, lock } = gateway.pins ?? {};
      const pins = mode && { mode, approved: lock?.get(slug) ?? new Map() };
      const words = [server.tools, server.overrides, pins];
      const known = before === undefined ? undefined : before.#bySlug.get(slug);
      if (known !== undefined && isDeepStrictEqual(known.words, words)) return [slug, known];
      const findings = new ShapeFindings(logger.child({ server: slug }));
      return [slug, { words, shape: new ToolShape({ ...server, findings, pins }) }];
    });
    this.#bySlug = new Map(shaped);
  }

  /** @throws Error for a slug of no server of the config */
  of(slug: string): ToolShape {
    const shaped = this.#bySlug.get(slug);
    if (shaped === undefined) throw new Error(`no tools are shaped for ${slug}`);
    return shaped.shape;
  }

  /** Whether every server of these has the same shape there. */
  isWithin(others: ToolShapes): boolean {
    return [...this.#bySlug].every(([slug, { shape }]) => others.#bySlug.get(slug)?.shape === shape);
  }
}

interface Shaped {
  /** All that it is made of. */
  readonly words: unknown;
  readonly shape: ToolShape;
}

const BEING_REVIEWED = new WeakSet<Server>();

/**
 * Reviews what the server lists to everybody. Never rejects: that a server cannot be asked is in the log already. What
 * changes while it is being asked is reviewed when somebody next asks for it, so that a server that never stops
 * changing is not asked without end.
 */
export async function reviewTools(
  server: Server,
  shape: ToolShape,
  catalogue: ServerCatalogue,
): Promise<void> {
  if (shape.isPlain || BEING_REVIEWED.has(server)) return;
  BEING_REVIEWED.add(server);
  try {
    const link = await server.catalogueLink();
    shape.review(await catalogue.table(link, 'tools', { signal: new AbortController().signal }));
  } catch {
    // Said above.
  } finally {
    BEING_REVIEWED.delete(server);
  }
}
