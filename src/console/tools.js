// Which tools each server has, and how they stand to portico.lock.

import { byId, element, KeyedList, say } from './elements.js';
import { Filter } from './filter.js';
import { SortableHead } from './sortable.js';
import { count, counted } from './wording.js';

/** @import { ReportedTool, ToolReport } from '../federation/tool-report.ts' */
/** @typedef {{ readonly slug: string, readonly report: ToolReport }} ServerTools */

export class ToolsView {
  /** @type {ServerTools[]} */
  #servers = [];
  #filter = new Filter(byId('tool-filter'), () => this.#show());
  #list = new KeyedList(byId('tool-list'), {
    key: (/** @type {ServerTools} */ { slug }) => slug,
    create: () => serverTools(this.#filter),
  });

  /** @param {{ readonly pins: string | null, readonly servers: Record<string, ToolReport> }} tools */
  show({ pins, servers }) {
    this.#servers = Object.entries(servers).map(([slug, report]) => ({ slug, report }));
    const total = this.#servers.reduce((sum, { report }) => sum + report.tools.length + report.omitted, 0);
    say(
      byId('tool-count'),
      `${counted(total, 'tool')}; ${pins === null ? 'tools are not pinned' : `pins: ${pins}`}`,
    );
    this.#show();
  }

  #show() {
    this.#list.show(this.#servers);
  }
}

/** @param {Filter} filter */
function serverTools(filter) {
  const name = element('span', { class: 'name' });
  const summaryText = element('span', { class: 'quiet' });
  const badges = element('span', { class: 'badges' });
  /** @type {HTMLDetailsElement} */
  const root = /** @type {any} */ (
    element('details', { class: 'tools' }, element('summary', {}, name, ' ', summaryText, ' ', badges))
  );
  const body = element('tbody');
  const note = element('p', { class: 'quiet' });
  /** @type {SortableHead<ReportedTool>} */
  const head = new SortableHead(
    [
      { title: 'Tool', value: ({ name: own }) => own },
      { title: 'State', value: (tool) => stateOf(tool) },
      { title: 'Pin', value: ({ pin = '' }) => pin },
    ],
    () => showRows(),
  );
  const frame = element('div', { class: 'table-frame' }, element('table', {}, head.root, body));
  root.append(note, frame);
  /** @type {ServerTools | undefined} */
  let last;
  /** Whether the filter has unfolded it. */
  let isUnfolded = false;
  const found = () => last?.report.tools.filter((tool) => filter.matches(textsOf(tool))) ?? [];

  function showRows() {
    if (!root.open || last === undefined) return;
    const tools = found();
    body.replaceChildren(...head.sorted(tools).map(toolRow));
    frame.hidden = tools.length === 0;
    say(note, noteOf(last.report, tools.length));
    note.hidden = note.textContent === '';
  }
  root.addEventListener('toggle', showRows);

  return {
    root,
    /** @param {ServerTools} shown */
    update(shown) {
      const isSame = JSON.stringify(shown.report) === JSON.stringify(last?.report);
      last = shown;
      say(name, shown.slug);
      say(summaryText, summaryOf(shown.report));
      const isFiltering = !filter.isEmpty;
      root.hidden = isFiltering && found().length === 0;
      if (isFiltering && !root.open && !root.hidden) [root.open, isUnfolded] = [true, true];
      if (!isFiltering && isUnfolded) [root.open, isUnfolded] = [false, false];
      if (!isSame) badges.replaceChildren(...badgesOf(shown.report));
      if (!isSame || isFiltering || isUnfolded) showRows();
    },
  };
}

/** @param {ReportedTool} tool */
function toolRow(tool) {
  const { name, shownAs, leftOut, pin } = tool;
  const called =
    shownAs === undefined
      ? []
      : [' ', element('span', { class: 'quiet' }, 'called '), element('span', {}, shownAs)];
  const isBad = pin === 'changed' || pin === 'new';
  return element(
    'tr',
    {},
    element('td', { class: 'name' }, name, ...called),
    element('td', { class: leftOut === undefined ? '' : 'left-out' }, stateOf(tool)),
    element(
      'td',
      {},
      pin === undefined ? '–' : element('span', { class: `result ${isBad ? 'bad' : 'good'}` }, pin),
    ),
  );
}

/** @param {ReportedTool} tool */
function stateOf({ leftOut }) {
  return leftOut === undefined ? 'served' : `left out: ${leftOut}`;
}

/** @param {ReportedTool} tool */
function textsOf(tool) {
  return [tool.name, tool.shownAs, stateOf(tool), tool.pin];
}

/** @param {ToolReport} report */
function summaryOf({ list, tools, omitted }) {
  if (list === 'personal') return 'each caller has tools of their own';
  if (list === 'unknown') return 'not known: the server cannot be asked, or has not answered yet';
  return counted(tools.length + omitted, 'tool');
}

/** @param {ToolReport} report */
function badgesOf({ tools }) {
  const sizes = /** @type {const} */ ([
    [tools.filter(({ pin }) => pin === 'changed').length, 'changed'],
    [tools.filter(({ pin }) => pin === 'new').length, 'new'],
    [tools.filter(({ leftOut }) => leftOut !== undefined).length, 'left out'],
  ]);
  return sizes
    .filter(([size]) => size > 0)
    .map(([size, word]) =>
      element('span', { class: `badge ${word === 'left out' ? '' : 'warn'}` }, `${count(size)} ${word}`),
    );
}

/**
 * @param {ToolReport} report
 * @param {number} shown
 */
function noteOf({ list, tools, omitted }, shown) {
  if (list !== 'known') return 'There is nothing to show.';
  if (omitted > 0) return `${count(omitted)} more are not shown here.`;
  if (shown > 0) return '';
  return tools.length === 0 ? 'It has no tools.' : 'None matches the filter.';
}
