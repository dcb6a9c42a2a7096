// Who hears what a server says on its catalogue links: on all of them, or on those of everyone and of one person.
import type { ServerLink } from './server-link.ts';
import type { ServerMessage } from './transport.ts';

export type SharedListener = (message: ServerMessage) => void;
/** `person` is whose the link is, where it is not everyone's. */
export type LinkListener = (message: ServerMessage, link: ServerLink, person: string | undefined) => void;

interface Listening {
  readonly listener: SharedListener;
  readonly person: string | undefined;
}

export class SharedListeners {
  readonly #ofLinks = new Set<{ readonly listener: LinkListener }>();
  readonly #listening = new Set<Listening>();
  /** They hear the server itself by another way. */
  readonly #toAnnounced = new Set<Listening>();

  /** @returns the way to stop */
  add(listener: SharedListener, person: string | undefined): () => void {
    const listening = { listener, person };
    this.#listening.add(listening);
    return () => this.#listening.delete(listening);
  }

  /** Hears only what no link of this process has said. */
  addToAnnounced(listener: SharedListener, person: string | undefined): () => void {
    const listening = { listener, person };
    this.#toAnnounced.add(listening);
    return () => this.#toAnnounced.delete(listening);
  }

  /** Hears all links, before anybody else does. */
  addToLinks(listener: LinkListener): () => void {
    const listening = { listener };
    this.#ofLinks.add(listening);
    return () => this.#ofLinks.delete(listening);
  }

  tell(message: ServerMessage, link: ServerLink, person: string | undefined): void {
    for (const { listener } of this.#ofLinks) listener(message, link, person);
    tellEach(this.#listening, message, person);
  }

  /** What no link of this process has said. */
  announce(message: ServerMessage, person: string | undefined): void {
    tellEach(this.#listening, message, person);
    tellEach(this.#toAnnounced, message, person);
  }

  clear(): void {
    this.#ofLinks.clear();
    this.#listening.clear();
    this.#toAnnounced.clear();
  }
}

function tellEach(
  listening: ReadonlySet<Listening>,
  message: ServerMessage,
  person: string | undefined,
): void {
  for (const { listener, person: of } of listening) {
    if (person === undefined || of === person) listener(message);
  }
}
