// A string of a JSON text that has been checked but not read. It stands for the string wherever a message is passed on,
// and is read where the message is written anew.

export class LongText {
  readonly #literal: readonly Buffer[];

  /** @param literal a JSON string in UTF-8, quotes and escapes with it, in pieces */
  constructor(literal: readonly Buffer[]) {
    this.#literal = literal;
  }

  toJSON(): string {
    return JSON.parse(Buffer.concat(this.#literal).toString());
  }
}
