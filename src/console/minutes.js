// The numbers behind the charts, minute by minute.

import { element } from './elements.js';
import { count, duration } from './wording.js';

/** @import { TrafficSeries } from '../telemetry/traffic.ts' */

const STEPS_PER_MINUTE = 4;

export function minutesTable() {
  const body = element('tbody');
  const heads = ['Minutes ago', 'Calls', 'Failed', 'p50 up to', 'p99 up to'].map((title) =>
    element('th', { scope: 'col' }, title),
  );
  const root = element(
    'div',
    { class: 'table-frame minutes' },
    element('table', {}, element('thead', {}, element('tr', {}, ...heads)), body),
  );
  return {
    root,
    /** @param {TrafficSeries} series */
    update(series) {
      body.replaceChildren(
        ...minutesOf(series).map(({ minutesAgo, calls, failed, p50Ms, p99Ms }) =>
          element(
            'tr',
            {},
            element('th', { scope: 'row' }, minutesAgo === 0 ? 'now' : String(minutesAgo)),
            ...[count(calls), count(failed), duration(p50Ms), duration(p99Ms)].map((text) =>
              element('td', {}, text),
            ),
          ),
        ),
      );
    },
  };
}

/** @param {TrafficSeries} series */
function minutesOf({ requests, failed, p50Ms, p99Ms }) {
  const minutes = [];
  for (let end = requests.length, minutesAgo = 0; end > 0; end -= STEPS_PER_MINUTE, minutesAgo += 1) {
    const range = /** @type {const} */ ([Math.max(0, end - STEPS_PER_MINUTE), end]);
    minutes.push({
      minutesAgo,
      calls: sum(requests.slice(...range)),
      failed: sum(failed.slice(...range)),
      p50Ms: most(p50Ms.slice(...range)),
      p99Ms: most(p99Ms.slice(...range)),
    });
  }
  return minutes;
}

/** @param {readonly number[]} values */
function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}

/** @param {readonly (number | null)[]} values */
function most(values) {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : Math.max(...known);
}
