// Who hears what a server says on its catalogue links: on all of them, or on those of everyone and of one person.
import type { ServerLink } from './server-link.ts';
import type { ServerMessage } from './transport.ts';

/** `person` is whose the link is, where it is not everyone's. */
export type SharedListener = (message: ServerMessage, link: ServerLink, person: string | undefined) => void;

type Audience = 'all' | { readonly person: string | undefined };

export class SharedListeners {
  readonly #listening = new Set<{ readonly listener: SharedListener; readonly to: Audience }>();

  /** @returns the way to stop */
  add(listener: SharedListener, to: Audience): () => void {
    const listening = { listener, to };
    this.#listening.add(listening);
    return () => this.#listening.delete(listening);
  }

  tell(message: ServerMessage, link: ServerLink, person: string | undefined): void {
    for (const { listener, to } of this.#listening) {
      if (to === 'all' || person === undefined || to.person === person) listener(message, link, person);
    }
  }

  clear(): void {
    this.#listening.clear();
  }
}
