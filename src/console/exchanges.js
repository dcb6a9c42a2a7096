// The last exchanges, as the log has them.

import { byId, element, KeyedList, say, showFacts } from './elements.js';
import { Filter } from './filter.js';
import { SortableHead } from './sortable.js';
import { clock, counted, dateAndTime, duration } from './wording.js';

/** @import { RecentExchange } from '../telemetry/recent-exchanges.ts' */

/** Shown before somebody asks for more. */
const FEW = 12;

export class ExchangesView {
  /** @type {{ readonly all: readonly RecentExchange[], readonly failures: readonly RecentExchange[] }} */
  #exchanges = { all: [], failures: [] };
  #filter = new Filter(byId('exchange-filter'), () => this.#show());
  /** @type {HTMLInputElement} */
  #failuresOnly = byId('exchange-failures');
  #empty = element('p', { class: 'quiet' });
  #more = element('button', { type: 'button', class: 'show-all', 'aria-expanded': 'false' });
  #isWhole = false;
  #table = element('table', { class: 'exchanges' });
  #head;
  #list;

  constructor() {
    const show = () => this.#show();
    /** @type {SortableHead<RecentExchange>} */
    this.#head = new SortableHead(
      [
        { title: 'Time', value: ({ at }) => at },
        { title: 'Server', value: ({ server = '' }) => server },
        { title: 'Request', value: ({ method = '', target = '' }) => `${method} ${target}` },
        { title: 'Result', value: (exchange) => resultOf(exchange) },
        { title: 'Took', value: ({ ms = 0 }) => ms },
      ],
      show,
    );
    this.#table.append(this.#head.root);
    const frame = element('div', { class: 'table-frame' }, this.#table);
    byId('exchange-table').append(this.#empty, frame, this.#more);
    this.#list = new KeyedList(this.#table, {
      key: (/** @type {RecentExchange} */ { exchange }) => exchange,
      create: exchangeRows,
      after: this.#head.root,
    });
    this.#more.addEventListener('click', () => {
      this.#isWhole = !this.#isWhole;
      this.#more.setAttribute('aria-expanded', String(this.#isWhole));
      show();
    });
    this.#failuresOnly.addEventListener('change', show);
  }

  /** @param {{ readonly all: readonly RecentExchange[], readonly failures: readonly RecentExchange[] }} exchanges */
  show(exchanges) {
    this.#exchanges = exchanges;
    this.#show();
  }

  #show() {
    const isNarrowed = this.#failuresOnly.checked;
    const all = isNarrowed ? this.#exchanges.failures : this.#exchanges.all;
    const found = all.filter((exchange) => this.#filter.matches(textsOf(exchange)));
    const isCut = !this.#isWhole && this.#filter.isEmpty;
    this.#list.show(this.#head.sorted(found).slice(0, isCut ? FEW : found.length));
    this.#more.hidden = !this.#filter.isEmpty || found.length <= FEW;
    say(this.#more, this.#isWhole ? `Show ${FEW}` : `Show all ${found.length}`);
    say(byId('exchange-count'), counted(found.length, isNarrowed ? 'failure' : 'exchange'));
    this.#table.hidden = found.length === 0;
    say(this.#empty, found.length > 0 ? '' : emptyWords({ isNarrowed, isFiltered: all.length > 0 }));
  }
}

/** @param {{ isNarrowed: boolean, isFiltered: boolean }} why */
function emptyWords({ isNarrowed, isFiltered }) {
  if (isFiltered) return 'None of them matches the filter.';
  return isNarrowed
    ? 'Nothing has failed since Portico started.'
    : 'Nobody has called since Portico started.';
}

/** @param {RecentExchange} exchange */
function exchangeRows(exchange) {
  const { at, era, method, server, target, outcome, ms } = exchange;
  const id = `exchange-${exchange.exchange}`;
  const details = element(
    'tr',
    { class: 'more', id, hidden: '' },
    element('td', { colspan: '5' }, factsOf(exchange)),
  );
  const button = element(
    'button',
    { type: 'button', class: 'unfold', 'aria-expanded': 'false', 'aria-controls': id },
    clock(at),
  );
  button.addEventListener('click', () => {
    details.hidden = !details.hidden;
    button.setAttribute('aria-expanded', String(!details.hidden));
  });
  const result = element('span', { class: `result ${gradeOf(outcome)}` }, resultOf(exchange));
  const row = element(
    'tr',
    {},
    element('td', { class: 'when' }, button),
    element('td', { class: 'name where' }, server ?? '–'),
    element(
      'td',
      { class: 'what' },
      element('span', { class: 'method' }, method ?? '–'),
      ' ',
      element('span', { class: 'name' }, target ?? ''),
      ' ',
      element('span', { class: 'quiet' }, era ?? ''),
    ),
    element('td', { class: 'how' }, result),
    element('td', { class: 'took' }, duration(ms)),
  );
  return { root: element('tbody', {}, row, details), update() {} };
}

/** @param {RecentExchange} exchange */
function factsOf(exchange) {
  const { at, view, version, status, rule, upstreamMs, queueMs, traceId, suppressed } = exchange;
  /** @type {[string, string | undefined][]} */
  const facts = [
    ['Exchange', exchange.exchange],
    ['Ended', dateAndTime(at)],
    ['Addressed', view === undefined ? '/mcp' : `/mcp/${view}`],
    ['Revision', version],
    ['HTTP status', status === undefined ? 'none: the client left' : String(status)],
    ['Rule', rule],
    ['Server took', upstreamMs === undefined ? undefined : duration(upstreamMs)],
    ['Queued', queueMs === undefined ? undefined : duration(queueMs)],
    ['Trace', traceId],
    [
      'Left out before it',
      suppressed === undefined ? undefined : counted(suppressed, 'refusal like it', 'refusals like it'),
    ],
  ];
  const list = element('dl', { class: 'facts wrapped' });
  showFacts(
    list,
    facts.flatMap(([label, value]) => (value === undefined ? [] : [[label, value]])),
  );
  return list;
}

/** @param {RecentExchange} exchange */
function resultOf({ outcome = 'cancelled', reason }) {
  return reason === undefined ? outcome : `${outcome}: ${reason}`;
}

/** @param {string | undefined} outcome */
function gradeOf(outcome) {
  if (outcome === 'ok') return 'good';
  return outcome === 'cancelled' ? 'plain' : 'bad';
}

/** @param {RecentExchange} exchange */
function textsOf({ exchange, era, method, view, server, target, outcome, reason, rule, status, traceId }) {
  return [exchange, era, method, view, server, target, outcome, reason, rule, status, traceId];
}
