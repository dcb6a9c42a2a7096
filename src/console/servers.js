// Servers, each with its state, its links and the charts of its last minutes.

import { callsChart, latencyChart } from './charts.js';
import { byId, element, KeyedList, say, setAttribute, showFacts } from './elements.js';
import { minutesTable } from './minutes.js';
import { ago, count, counted, duration, megabytes } from './wording.js';

/** @import { TrafficSeries } from '../telemetry/traffic.ts' */
/** @typedef {{ readonly slug: string, readonly server: any, readonly series: TrafficSeries }} Shown */

const STATES = ['down', 'starting', 'idle', 'up'];

/** @type {Record<string, (one: Shown, other: Shown) => number>} */
const ORDERS = {
  config: () => 0,
  state: (one, other) => STATES.indexOf(one.server.state) - STATES.indexOf(other.server.state),
  name: (one, other) => one.slug.localeCompare(other.slug),
  calls: (one, other) => other.series.total.requests - one.series.total.requests,
  failed: (one, other) => other.series.total.failed - one.series.total.failed,
  latency: (one, other) => (other.series.total.p99Ms ?? -1) - (one.series.total.p99Ms ?? -1),
};

export class ServersView {
  #list = new KeyedList(byId('server-list'), {
    key: (/** @type {Shown} */ { slug }) => slug,
    create: () => serverCard(),
  });
  /** @type {Shown[]} */
  #servers = [];
  /** @type {HTMLSelectElement} */
  #order = byId('server-order');

  constructor() {
    this.#order.addEventListener('change', () => this.#show());
  }

  /**
   * @param {any} status
   * @param {any} traffic
   */
  show({ servers }, traffic) {
    this.#servers = Object.entries(servers).flatMap(([slug, server]) => {
      const series = traffic.servers[slug];
      // The two documents may be of two moments, with a reload between them.
      return series === undefined ? [] : [{ slug, server, series }];
    });
    this.#show();
  }

  #show() {
    this.#list.show(this.#servers.toSorted(ORDERS[this.#order.value]));
  }
}

function serverCard() {
  const name = element('h3', { class: 'name' });
  const state = element('span', { class: 'state' });
  const kind = element('p', { class: 'quiet' });
  const badges = element('p', { class: 'badges' });
  const facts = element('dl', { class: 'facts' });
  const calls = figure('Calls', callsChart());
  const latency = figure('Latency', latencyChart());
  const when = element('span');
  const fault = element('span');
  const error = element('p', { class: 'error' }, when, fault);
  const more = element('dl', { class: 'facts wrapped' });
  const minutes = minutesTable();
  const details = element(
    'details',
    {},
    element('summary', {}, 'Details'),
    element('div', { class: 'depth' }, more, minutes.root),
  );
  const head = element(
    'div',
    { class: 'server-head' },
    element('div', { class: 'title' }, name, state),
    kind,
    badges,
  );
  const root = element('article', { class: 'server' }, head, facts, calls.root, latency.root, error, details);
  /** @type {Shown | undefined} */
  let last;
  const showMore = () => {
    if (last === undefined || !(/** @type {HTMLDetailsElement} */ (details).open)) return;
    showFacts(more, moreFacts(last.server));
    minutes.update(last.series);
  };
  details.addEventListener('toggle', showMore);
  return {
    root,
    /** @param {Shown} shown */
    update(shown) {
      last = shown;
      const { slug, server, series } = shown;
      const { total } = series;
      setAttribute(root, 'data-state', server.state);
      setAttribute(root, 'aria-label', `${slug}, ${server.state}`);
      say(name, slug);
      say(state, server.state);
      say(kind, kindOf(server));
      showBadges(badges, badgesOf(server));
      showFacts(facts, [
        ['Links', linksOf(server)],
        ['In flight', count(server.inFlight)],
        ['Restarts', count(server.restarts)],
      ]);
      calls.say(
        total.requests === 0
          ? 'none'
          : `${count(total.requests)}${total.failed === 0 ? '' : `, ${count(total.failed)} failed`}`,
      );
      calls.chart.update(series);
      latency.say(total.requests === 0 ? '–' : `p50 ${duration(total.p50Ms)}, p99 ${duration(total.p99Ms)}`);
      latency.chart.update(series);
      // Apart, so that a selection in the words outlives the next second.
      say(when, server.lastErrorAt === null ? '' : `${ago(server.lastErrorAt)}: `);
      say(fault, server.lastError ?? '');
      error.hidden = server.lastError === null;
      showMore();
    },
  };
}

/**
 * @param {string} title
 * @param {ReturnType<typeof callsChart>} chart
 */
function figure(title, chart) {
  const value = element('span', { class: 'value' });
  const caption = element('figcaption', {}, element('span', { class: 'label' }, title), value);
  return {
    root: element('figure', {}, caption, chart.root),
    chart,
    say: (/** @type {string} */ text) => say(value, text),
  };
}

/** @param {any} server */
function kindOf({ type, era, protocolVersion, personal }) {
  const spoken = era === null ? 'era not known yet' : `${era} ${protocolVersion}`;
  return `${type}, ${spoken}${personal ? ', signs in for each caller' : ''}`;
}

/** @param {any} server */
function linksOf({ linksByState }) {
  const states = Object.entries(linksByState).filter(([, number]) => number > 0);
  return states.length === 0
    ? 'none'
    : states.map(([state, number]) => `${count(number)} ${state}`).join(', ');
}

/**
 * @param {any} server
 * @returns {string[]}
 */
function badgesOf({
  unapprovedTools,
  unusableTools,
  clashingTools,
  overridesWithoutTool,
  missingLists,
  cutLists,
}) {
  const sizes = /** @type {const} */ ([
    [Object.keys(unapprovedTools).length, 'unapproved tool'],
    [Object.keys(unusableTools).length, 'unusable tool'],
    [clashingTools.length, 'name clash', 'name clashes'],
    [overridesWithoutTool.length, 'override without a tool', 'overrides without a tool'],
  ]);
  const found = sizes.filter(([size]) => size > 0).map(([size, one, many]) => counted(size, one, many));
  const missing = Object.entries(missingLists).map(([kind, how]) => `${kind} ${how}`);
  const cut = Object.keys(cutLists).map((kind) => `${kind} cut short`);
  return [...found, ...missing, ...cut];
}

/**
 * @param {Element} target
 * @param {readonly string[]} badges
 */
function showBadges(target, badges) {
  if (
    target.children.length === badges.length &&
    badges.every((text, index) => target.children[index]?.textContent === text)
  )
    return;
  target.replaceChildren(...badges.map((text) => element('span', { class: 'badge warn' }, text)));
}

/**
 * @param {any} server
 * @returns {[string, string][]}
 */
function moreFacts({
  starts,
  failures,
  lastHandshakeMs,
  processes,
  unapprovedTools,
  unusableTools,
  clashingTools,
  overridesWithoutTool,
}) {
  /** @type {[string, string][]} */
  const facts = [
    ['Starts', count(starts)],
    ['Failures in a row', count(failures)],
    ['Last handshake', duration(lastHandshakeMs)],
  ];
  if (processes !== undefined) {
    const exits = Object.entries(processes.exits).map(([how, number]) => `${how} × ${count(number)}`);
    facts.push(
      ['Processes', count(processes.count)],
      ['Memory', megabytes(processes.rssBytes)],
      ['CPU', `${Math.round(processes.cpuSeconds * 10) / 10} s`],
      ['Waiting calls', count(processes.queued)],
      ['Exits', exits.length === 0 ? 'none' : exits.join(', ')],
      ['Lines on stderr', count(processes.stderrLines)],
      ['Lines of noise', count(processes.noiseLines)],
    );
  }
  const unapproved = Object.entries(unapprovedTools).map(([tool, { problem, fields }]) => {
    return `${tool} (${[problem, ...fields].join(', ')})`;
  });
  const unusable = Object.entries(unusableTools).map(([tool, problem]) => `${tool}: ${problem}`);
  const lists = /** @type {const} */ ([
    ['Unapproved tools', unapproved],
    ['Unusable tools', unusable],
    ['Name clashes', clashingTools],
    ['Overrides without a tool', overridesWithoutTool],
  ]);
  for (const [label, items] of lists) if (items.length > 0) facts.push([label, items.join('; ')]);
  return facts;
}
