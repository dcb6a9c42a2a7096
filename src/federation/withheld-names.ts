// Names and addresses that two servers of a view claim, so that neither has them: told to the operator, once each.
import type { Logger } from '../telemetry/logger.ts';
import type { NameClash } from './public-names.ts';
import type { CatalogueKind } from './server-catalogue.ts';

const MAX_NAMES = 500;

export class WithheldNames {
  readonly #logger: Logger;
  readonly #names = new Map<string, readonly string[]>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  note(kind: CatalogueKind, clashes: readonly NameClash[]): void {
    for (const { publicName, owners } of clashes) {
      const servers = [...new Set(owners.map(({ server }) => server))];
      const key = `${kind} ${publicName}`;
      if (this.#names.has(key) || this.#names.size >= MAX_NAMES) continue;
      this.#names.set(key, servers);
      this.#logger.warn(
        { list: kind, name: publicName, servers },
        'a name is left out: several servers claim it; give one of them another `prefix`',
      );
    }
  }

  /** For `/status`: kind and name, and the servers that claim it. */
  status(): Record<string, readonly string[]> {
    return Object.fromEntries(this.#names);
  }
}
