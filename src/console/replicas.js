// The replicas that know of each other.

import { byId, element } from './elements.js';
import { dateAndTime } from './wording.js';

/** @typedef {{ readonly id: string, readonly url?: string, readonly since?: string, readonly self?: boolean }} Replica */

let shown = '';

/** @param {{ readonly replicas?: readonly Replica[] }} status */
export function showReplicas({ replicas }) {
  const text = JSON.stringify(replicas ?? null);
  if (text === shown) return;
  shown = text;
  byId('replica-list').replaceChildren(
    Array.isArray(replicas) && replicas.length > 0
      ? tableOf(replicas)
      : element('p', { class: 'quiet' }, 'One replica: this one.'),
  );
}

/** @param {readonly Replica[]} replicas */
function tableOf(replicas) {
  const rows = replicas.map(({ id, url, since, self }) =>
    element(
      'tr',
      {},
      element(
        'td',
        { class: 'name' },
        id,
        ...(self === true ? [' ', element('span', { class: 'badge' }, 'this one')] : []),
      ),
      element('td', { class: 'name' }, url ?? ''),
      element('td', {}, since === undefined ? '' : dateAndTime(since)),
    ),
  );
  const heads = ['Replica', 'Where', 'Since'].map((title) => element('th', { scope: 'col' }, title));
  return element(
    'div',
    { class: 'table-frame' },
    element('table', {}, element('thead', {}, element('tr', {}, ...heads)), element('tbody', {}, ...rows)),
  );
}
