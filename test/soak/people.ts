// The people of a soak: each signs in with a key of its own, and none may ever meet another's process.
import { createHash, randomBytes } from 'node:crypto';

export interface Person {
  readonly name: string;
  readonly key: string;
  /** For a client of theirs. */
  readonly headers: Readonly<Record<string, string>>;
}

export function makePeople(count: number): readonly Person[] {
  return Array.from({ length: count }, (_, index) => {
    const key = randomBytes(18).toString('base64url');
    return { name: `person-${index}`, key, headers: { authorization: `Bearer ${key}` } };
  });
}

/** Who comes next: everybody in turn, and then all of them again. */
export function* arrivals(people: readonly Person[]): Generator<Person, never> {
  for (;;) yield* people;
}

/** `gateway.auth.apiKeys` for them. */
export function apiKeysOf(people: readonly Person[]): object[] {
  return people.map(({ name, key }) => ({
    name,
    sha256: createHash('sha256').update(key).digest('hex'),
    scopes: ['mcp'],
  }));
}

/** Who was seen in which process, known by its home. */
export class Residents {
  readonly #byHome = new Map<string, string>();

  /** @returns the name of another who was seen there before */
  see(home: string, { name }: Person): string | undefined {
    const known = this.#byHome.get(home);
    this.#byHome.set(home, known ?? name);
    return known === name ? undefined : known;
  }

  get homes(): number {
    return this.#byHome.size;
  }
}
