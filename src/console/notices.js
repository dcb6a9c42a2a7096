// What needs attention, in plain sentences at the top of the page.

import { byId, element } from './elements.js';
import { ago, counted } from './wording.js';

/** @typedef {{ readonly kind: 'bad' | 'warn', readonly text: string, readonly lines?: readonly string[] }} Notice */

let shown = '';

/** @param {any} status */
export function showNotices(status) {
  const notices = noticesOf(status);
  const text = JSON.stringify(notices);
  if (text === shown) return;
  shown = text;
  byId('notices').replaceChildren(
    ...notices.map(({ kind, text: words, lines = [] }) =>
      element(
        'li',
        { class: `notice ${kind}` },
        element('p', {}, words),
        ...(lines.length === 0 ? [] : [element('ul', {}, ...lines.map((line) => element('li', {}, line)))]),
      ),
    ),
  );
}

/**
 * @param {any} status
 * @returns {Notice[]}
 */
function noticesOf({ draining, config, audit, store, servers, withheldNames }) {
  const all = Object.values(servers);
  const down = Object.keys(servers).filter((slug) => servers[slug].state === 'down');
  const unapproved = all.reduce((sum, { unapprovedTools }) => sum + Object.keys(unapprovedTools).length, 0);
  const withheld = Object.keys(withheldNames).length;
  const reload = config.lastReload;
  return [
    ...when(draining, 'warn', 'This Portico is draining: it takes no new work, and will end.'),
    ...when(down.length > 0, 'bad', `${counted(down.length, 'server')} down: ${down.join(', ')}.`),
    ...when(
      reload?.outcome === 'refused',
      'bad',
      `The config that was read ${reload === undefined ? '' : ago(reload.at)} is wrong; the one before it holds.`,
      reload?.problems,
    ),
    ...when(audit?.writable === false, 'bad', 'The audit file cannot be written.'),
    ...when(!store.available, 'warn', 'Redis does not answer: limits are counted in this process.'),
    ...when(
      unapproved > 0,
      'warn',
      `${counted(unapproved, 'tool is', 'tools are')} not as portico.lock has ${unapproved === 1 ? 'it' : 'them'}.`,
    ),
    ...when(
      withheld > 0,
      'warn',
      `${counted(withheld, 'name is', 'names are')} withheld, since several servers claim ${withheld === 1 ? 'it' : 'them'}.`,
      Object.keys(withheldNames),
    ),
  ];
}

/**
 * @param {boolean} isSo
 * @param {Notice['kind']} kind
 * @param {string} text
 * @param {readonly string[]} [lines]
 * @returns {Notice[]}
 */
function when(isSo, kind, text, lines = []) {
  return isSo ? [{ kind, text, lines }] : [];
}
