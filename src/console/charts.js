// Small charts: a step a column, drawn as paths with attributes alone, since the page allows no inline style. What a
// chart shows is also said in words, and stands in a table.

import { element, say, setAttribute } from './elements.js';
import { count, counted, duration } from './wording.js';

/** @import { TrafficSeries } from '../telemetry/traffic.ts' */

const SVG = 'http://www.w3.org/2000/svg';
const COLUMN = 4;
const GAP = 1;
const HEIGHT = 40;
/** Of the thinnest thing that is to be seen. */
const HAIR = 1.5;

/** Calls as columns, those that failed at their foot. */
export function callsChart() {
  const { root, svg, title, peak, paths } = chart(['ok', 'failed']);
  return {
    root,
    /** @param {TrafficSeries} series */
    update({ requests, failed, total }) {
      const most = Math.max(1, ...requests);
      const heightOf = (/** @type {number} */ value) =>
        value === 0 ? 0 : Math.max(HAIR, (value / most) * HEIGHT);
      const bad = failed.map(heightOf);
      draw(paths[1], columns(bad.map((height) => [HEIGHT - height, height])));
      draw(
        paths[0],
        columns(
          requests.map((value, step) => {
            const foot = bad[step] ?? 0;
            const height = value === failed[step] ? 0 : Math.max(HAIR, heightOf(value) - foot);
            return [HEIGHT - foot - height, height];
          }),
        ),
      );
      setAttribute(svg, 'viewBox', `0 0 ${requests.length * COLUMN} ${HEIGHT}`);
      say(peak, total.requests === 0 ? '' : count(most));
      say(title, callsInWords({ requests, total }));
    },
  };
}

/** Columns up to the median, and paler ones on top of them up to the 99th percentile. */
export function latencyChart() {
  const { root, svg, title, peak, paths } = chart(['range', 'median']);
  return {
    root,
    /** @param {TrafficSeries} series */
    update({ p50Ms, p99Ms, total }) {
      const most = Math.max(1, ...p99Ms.map((value) => value ?? 0));
      const levelOf = (/** @type {number} */ value) => HEIGHT - Math.max(HAIR, (value / most) * HEIGHT);
      const steps = p50Ms.map((p50, step) => ({ p50, p99: p99Ms[step] ?? p50 }));
      draw(
        paths[0],
        columns(
          steps.map(({ p50, p99 }) => {
            if (p50 === null || p99 === null) return [0, 0];
            return [levelOf(p99), levelOf(p50) - levelOf(p99)];
          }),
        ),
      );
      draw(
        paths[1],
        columns(steps.map(({ p50 }) => (p50 === null ? [0, 0] : [levelOf(p50), HEIGHT - levelOf(p50)]))),
      );
      setAttribute(svg, 'viewBox', `0 0 ${p50Ms.length * COLUMN} ${HEIGHT}`);
      say(peak, total.requests === 0 ? '' : duration(most));
      say(
        title,
        total.requests === 0
          ? 'Latency: nothing to show for the last 15 minutes'
          : `Latency in the last 15 minutes: half within ${duration(total.p50Ms)}, 99 of 100 within ${duration(total.p99Ms)}`,
      );
    },
  };
}

/** @param {Pick<TrafficSeries, 'requests' | 'total'>} series */
function callsInWords({ requests, total }) {
  if (total.requests === 0) return 'Calls: none in the last 15 minutes';
  const most = count(Math.max(...requests));
  return `Calls in the last 15 minutes: ${counted(total.requests, 'call')}, ${count(total.failed)} failed, at most ${most} in 15 seconds`;
}

/** @param {readonly string[]} layers */
function chart(layers) {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('role', 'img');
  svg.setAttribute('preserveAspectRatio', 'none');
  const title = document.createElementNS(SVG, 'title');
  const paths = layers.map((layer) => {
    const path = document.createElementNS(SVG, 'path');
    path.setAttribute('class', layer);
    return path;
  });
  svg.append(title, ...paths);
  const peak = element('span', { class: 'peak', 'aria-hidden': 'true' });
  return { root: element('div', { class: 'chart' }, svg, peak), svg, title, peak, paths };
}

/** @param {readonly (readonly number[])[]} boxes the top and the height of each column */
function columns(boxes) {
  return boxes
    .map(([top = 0, height = 0], step) => {
      if (height <= 0) return '';
      const width = COLUMN - GAP;
      return `M${step * COLUMN} ${round(top)}h${width}v${round(height)}h${-width}z`;
    })
    .join('');
}

/**
 * @param {Element | undefined} path
 * @param {string} shape
 */
function draw(path, shape) {
  if (path !== undefined) setAttribute(path, 'd', shape);
}

/** @param {number} value */
function round(value) {
  return Math.round(value * 10) / 10;
}
