// Making and keeping elements. Text is only ever set as text: nothing that a server or a caller says becomes markup.

/** @typedef {Node | string} Child */

/**
 * @param {string} tag
 * @param {Record<string, string>} [attributes]
 * @param {readonly Child[]} children
 * @returns {HTMLElement}
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/**
 * An element of the page that is there.
 *
 * @template {Element} [T=HTMLElement]
 * @param {string} id
 * @returns {T}
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no #${id}`);
  return /** @type {T} */ (/** @type {unknown} */ (found));
}

/**
 * Nothing is touched that already says so: a selection stays, and nobody is told twice.
 *
 * @param {Element} target
 * @param {string} text
 */
export function say(target, text) {
  if (target.textContent !== text) target.textContent = text;
}

/**
 * @param {Element} target
 * @param {string} name
 * @param {string} value
 */
export function setAttribute(target, name, value) {
  if (target.getAttribute(name) !== value) target.setAttribute(name, value);
}

/** @typedef {readonly [label: string, value: string]} Fact */

/**
 * The pairs of a description list.
 *
 * @param {Element} list
 * @param {readonly Fact[]} facts
 */
export function showFacts(list, facts) {
  const pairs = facts.map(([label, value], index) => {
    const pair = list.children[index] ?? element('div', {}, element('dt'), element('dd'));
    const [term, description] = pair.children;
    if (term !== undefined) say(term, label);
    if (description !== undefined) say(description, value);
    return pair;
  });
  while (list.children.length > pairs.length) list.lastElementChild?.remove();
  list.append(...pairs.slice(list.children.length));
}

/**
 * One element an item, kept by key: focus, selection and what is unfolded outlive a refresh.
 *
 * @template T
 */
export class KeyedList {
  #parent;
  #key;
  #create;
  #after;
  /** @type {Map<string, { readonly root: Element, update(item: T): void }>} */
  #entries = new Map();

  /**
   * @param {Element} parent
   * @param {{ key(item: T): string, create(item: T): { readonly root: Element, update(item: T): void }, after?: Element }} making
   *   `after`: what stands before the first of them
   */
  constructor(parent, { key, create, after }) {
    this.#after = after;
    this.#parent = parent;
    this.#key = key;
    this.#create = create;
  }

  /** @param {readonly T[]} items */
  show(items) {
    const keys = new Set(items.map(this.#key));
    for (const [key, { root }] of this.#entries) {
      if (keys.has(key)) continue;
      root.remove();
      this.#entries.delete(key);
    }
    let next = this.#after === undefined ? this.#parent.firstElementChild : this.#after.nextElementSibling;
    for (const item of items) {
      const key = this.#key(item);
      const entry = this.#entries.get(key) ?? this.#create(item);
      this.#entries.set(key, entry);
      entry.update(item);
      if (entry.root === next) next = next.nextElementSibling;
      else this.#parent.insertBefore(entry.root, next);
    }
  }
}
