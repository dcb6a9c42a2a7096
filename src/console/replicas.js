// The replicas that know of each other.

import { byId, element } from './elements.js';
import { dateAndTime } from './wording.js';

/** @import { LiveReplica } from '../replicas/replicas.ts' */

let shown = '';

/** @param {{ readonly replicas?: readonly LiveReplica[] }} status */
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

/** @param {readonly LiveReplica[]} replicas */
function tableOf(replicas) {
  const rows = replicas.map(({ id, url, since, self }) =>
    element(
      'tr',
      {},
      element(
        'td',
        { class: 'name' },
        id,
        ...(self ? [' ', element('span', { class: 'badge' }, 'this one')] : []),
      ),
      element('td', { class: 'name' }, url),
      element('td', {}, dateAndTime(since)),
    ),
  );
  const heads = ['Replica', 'Where', 'Since'].map((title) => element('th', { scope: 'col' }, title));
  return element(
    'div',
    { class: 'table-frame' },
    element('table', {}, element('thead', {}, element('tr', {}, ...heads)), element('tbody', {}, ...rows)),
  );
}
