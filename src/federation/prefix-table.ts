// Who could have a thing of some public name, found without asking each of a view's servers: who to ask, not who has it.
// A name is looked up by what it begins with, as long as each prefix is; it is split nowhere (F29).
import { SEPARATOR } from './public-names.ts';

export class PrefixTable<Owner> {
  /** Without a prefix, so that any name could be theirs. */
  readonly #bare: Owner[] = [];
  /** By the length of the prefix with its separator, then by both. There are few lengths, however many servers. */
  readonly #byLength = new Map<number, Map<string, Owner[]>>();

  constructor(owners: Iterable<readonly [prefix: string, owner: Owner]>) {
    for (const [prefix, owner] of owners) {
      if (prefix === '') this.#bare.push(owner);
      else this.#listed(prefix + SEPARATOR).push(owner);
    }
  }

  candidates(publicName: string): readonly Owner[] {
    const found: Owner[] = [];
    for (const [length, byPrefix] of this.#byLength) {
      const owners = byPrefix.get(publicName.slice(0, length));
      if (owners !== undefined) found.push(...owners);
    }
    return found.length === 0 ? this.#bare : [...this.#bare, ...found];
  }

  #listed(prefix: string): Owner[] {
    const byPrefix = this.#byLength.get(prefix.length) ?? new Map<string, Owner[]>();
    this.#byLength.set(prefix.length, byPrefix);
    const owners = byPrefix.get(prefix) ?? [];
    byPrefix.set(prefix, owners);
    return owners;
  }
}
