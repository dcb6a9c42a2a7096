// A pattern over names and URIs: `*` stands for any characters within a segment, `**` for any at all, the rest for
// itself. Matched by following every way at once, so its time is bounded by text times pattern, whatever they are.

const SLASH = 0x2f;
/** Stand among the character codes of a pattern. */
const STAR = -1;
const DOUBLE_STAR = -2;

export class Glob {
  readonly text: string;
  /** What every text that matches begins with. */
  readonly literalPrefix: string;
  /** True for a pattern that stands for one text only. */
  readonly isLiteral: boolean;
  readonly #steps: readonly number[];

  constructor(text: string) {
    this.text = text;
    this.literalPrefix = text.split('*', 1)[0] ?? '';
    this.isLiteral = this.literalPrefix === text;
    this.#steps = stepsOf(text);
  }

  matches(text: string): boolean {
    if (this.isLiteral) return text === this.text;
    // Most patterns are done with here, and each entry of a list is held against all of them.
    if (!text.startsWith(this.literalPrefix)) return false;
    return this.#placesAfter(text, this.literalPrefix.length).at(-1) === this.#steps.length;
  }

  /** Whether some text that begins so would match. */
  couldMatch(beginning: string): boolean {
    return this.#placesAfter(beginning).length > 0;
  }

  /** Whether every text that begins so matches. */
  coversAll(beginning: string): boolean {
    const last = this.#steps.length - 1;
    return this.#steps[last] === DOUBLE_STAR && this.#placesAfter(beginning).includes(last);
  }

  /**
   * Places in the pattern, ascending, at which it can stand once it has read the text.
   *
   * @param known how much of both is known to be the same
   */
  #placesAfter(text: string, known = 0): readonly number[] {
    let places: number[] = [];
    this.#enter(places, known);
    for (let i = known; i < text.length && places.length > 0; i += 1) {
      const code = text.charCodeAt(i);
      const next: number[] = [];
      for (const place of places) {
        const step = this.#steps[place];
        if (step === DOUBLE_STAR || (step === STAR && code !== SLASH)) this.#enter(next, place);
        else if (step === code) this.#enter(next, place + 1);
      }
      places = next;
    }
    return places;
  }

  /** Stars may stand for nothing, so whoever stands before one stands behind it too. */
  #enter(places: number[], place: number): void {
    let at = place;
    if (at > (places.at(-1) ?? -1)) places.push(at);
    while ((this.#steps[at] ?? 0) < 0) {
      at += 1;
      if (at > (places.at(-1) ?? -1)) places.push(at);
    }
  }
}

function stepsOf(text: string): number[] {
  return [...text.matchAll(/\*+|[^*]/gs)].map(([piece]) => {
    if (!piece.startsWith('*')) return piece.charCodeAt(0);
    return piece === '*' ? STAR : DOUBLE_STAR;
  });
}
