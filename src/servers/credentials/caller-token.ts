// The token that a caller signed in with, kept for as long as its exchange runs, for one purpose: to be exchanged for
// another one. No log line, JSON text or inspection shows it.

export class CallerToken {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** For token exchange alone; a test holds that nobody else calls it. */
  static reveal(token: CallerToken): string {
    return token.#text;
  }
}
