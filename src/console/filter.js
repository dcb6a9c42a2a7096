// A field that narrows what is shown to what has all of its words.

export class Filter {
  /** @type {HTMLInputElement} */
  #field;

  /**
   * @param {HTMLInputElement} field
   * @param {() => void} onChange
   */
  constructor(field, onChange) {
    this.#field = field;
    field.addEventListener('input', onChange);
  }

  get isEmpty() {
    return this.#words.length === 0;
  }

  /** @param {readonly unknown[]} texts of one thing; those that it does not have are undefined */
  matches(texts) {
    const text = texts.join(' ').toLowerCase();
    return this.#words.every((word) => text.includes(word));
  }

  get #words() {
    return this.#field.value.toLowerCase().split(/\s+/).filter(Boolean);
  }
}
