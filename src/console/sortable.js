// The head of a table that sorts by its columns.

import { element } from './elements.js';

/**
 * @template T
 * @typedef {object} Column
 * @property {string} title
 * @property {(item: T) => string | number} [value] what it sorts by; a column without it does not
 */

/**
 * @template T
 */
export class SortableHead {
  #columns;
  #by = -1;
  #isDescending = false;
  /** @type {HTMLElement[]} */
  #cells;

  /**
   * @param {readonly Column<T>[]} columns
   * @param {() => void} onChange
   */
  constructor(columns, onChange) {
    this.#columns = columns;
    this.#cells = columns.map(({ title, value }, index) => {
      if (value === undefined) return element('th', { scope: 'col' }, title);
      const button = element('button', { type: 'button', class: 'sort' }, title);
      button.addEventListener('click', () => {
        this.#sortBy(index);
        onChange();
      });
      return element('th', { scope: 'col' }, button);
    });
    this.root = element('thead', {}, element('tr', {}, ...this.#cells));
  }

  /** @param {readonly T[]} items in their own order, which is what holds while no column was chosen */
  sorted(items) {
    const value = this.#columns[this.#by]?.value;
    if (value === undefined) return items;
    const sign = this.#isDescending ? -1 : 1;
    return items.toSorted((one, other) => sign * compare(value(one), value(other)));
  }

  /** Up, down, and back to the order of before. @param {number} index */
  #sortBy(index) {
    if (this.#by !== index) [this.#by, this.#isDescending] = [index, false];
    else if (!this.#isDescending) this.#isDescending = true;
    else this.#by = -1;
    for (const [place, cell] of this.#cells.entries()) {
      if (place !== this.#by) cell.removeAttribute('aria-sort');
      else cell.setAttribute('aria-sort', this.#isDescending ? 'descending' : 'ascending');
    }
  }
}

/**
 * @param {string | number} one
 * @param {string | number} other
 */
function compare(one, other) {
  if (typeof one === 'number' && typeof other === 'number') return one - other;
  return String(one).localeCompare(String(other));
}
