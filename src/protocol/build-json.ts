// Builds the value of a JSON text anew, for texts with numbers that JSON.parse would change. It checks nothing: the
// text is JSON, and no deeper than the stack, or its caller has refused it.
import { endOfNumber, endOfString } from './scan-json.ts';

const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const LETTER_F = 0x66;
const LETTER_N = 0x6e;
const LETTER_T = 0x74;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Below it V8 copies a slice; a longer one would keep the whole text in memory. */
const COPIED_LENGTH = 13;

type RawNumber = (source: string, start: number) => unknown;

/**
 * @param fragile start and end of each number that `rawNumber` is to stand for, in order of the text
 * @param rawNumber makes its value of a number's text, and of where that begins
 */
export function buildJson(text: string, fragile: readonly number[], rawNumber: RawNumber): unknown {
  return new Builder(text, fragile, rawNumber).value();
}

class Builder {
  readonly #text: string;
  readonly #fragile: readonly number[];
  readonly #rawNumber: RawNumber;
  #at = 0;
  #nextFragile = 0;
  #nextBackslash = -1;

  constructor(text: string, fragile: readonly number[], rawNumber: RawNumber) {
    this.#text = text;
    this.#fragile = fragile;
    this.#rawNumber = rawNumber;
  }

  value(): unknown {
    switch (this.#peek()) {
      case QUOTE:
        return this.#string();
      case OPEN_BRACE:
        return this.#object();
      case OPEN_BRACKET:
        return this.#array();
      case LETTER_T:
        return this.#word(4, true);
      case LETTER_F:
        return this.#word(5, false);
      case LETTER_N:
        return this.#word(4, null);
      default:
        return this.#number();
    }
  }

  /** The next character that is no space. */
  #peek(): number {
    let char = this.#text.charCodeAt(this.#at);
    while (char <= SPACE) {
      this.#at += 1;
      char = this.#text.charCodeAt(this.#at);
    }
    return char;
  }

  #word<T>(length: number, meaning: T): T {
    this.#at += length;
    return meaning;
  }

  #number(): unknown {
    const start = this.#at;
    this.#at = endOfNumber(this.#text, start);
    const source = this.#text.slice(start, this.#at);
    if (this.#fragile[this.#nextFragile] !== start) return Number(source);
    this.#nextFragile += 2;
    return this.#rawNumber(source.length < COPIED_LENGTH ? source : JSON.parse(`"${source}"`), start);
  }

  #string(): string {
    const start = this.#at;
    this.#at = endOfString(this.#text, start);
    if (this.#nextBackslash < start) {
      const next = this.#text.indexOf('\\', start);
      this.#nextBackslash = next === -1 ? this.#text.length : next;
    }
    const isPlain = this.#nextBackslash >= this.#at;
    return isPlain && this.#at - start - 2 < COPIED_LENGTH
      ? this.#text.slice(start + 1, this.#at - 1)
      : JSON.parse(this.#text.slice(start, this.#at));
  }

  #array(): unknown[] {
    const items: unknown[] = [];
    this.#at += 1;
    if (this.#peek() !== CLOSE_BRACKET) {
      do items.push(this.value());
      while (this.#passComma());
    }
    this.#at += 1;
    return items;
  }

  #object(): Record<string, unknown> {
    const members: Record<string, unknown> = {};
    this.#at += 1;
    if (this.#peek() !== CLOSE_BRACE) {
      do {
        this.#peek();
        const key = this.#string();
        this.#peek();
        this.#at += 1;
        const value = this.value();
        // A member like any other, as JSON.parse has it.
        if (key === '__proto__') {
          Object.defineProperty(members, key, {
            value,
            writable: true,
            enumerable: true,
            configurable: true,
          });
        } else {
          members[key] = value;
        }
      } while (this.#passComma());
    }
    this.#at += 1;
    return members;
  }

  #passComma(): boolean {
    if (this.#peek() !== COMMA) return false;
    this.#at += 1;
    return true;
  }
}
