// The gateway as a whole.

import { callsChart } from './charts.js';
import { byId, say, showFacts } from './elements.js';
import { count, duration, percent, span } from './wording.js';

export class OverviewView {
  #chart = callsChart();

  constructor() {
    byId('overview-chart').append(this.#chart.root);
  }

  /**
   * @param {any} status
   * @param {any} traffic
   */
  show({ version, uptimeSeconds, servers, sessions, store }, { sum }) {
    say(byId('identity'), `${version}, up for ${span(uptimeSeconds)}`);
    const all = Object.values(servers);
    const { total } = sum;
    showFacts(byId('overview'), [
      ['Servers up', `${count(all.filter(({ state }) => state === 'up').length)} of ${count(all.length)}`],
      ['Calls, 15 min', count(total.requests)],
      ['Failed', percent(total.failed, total.requests)],
      ['Latency p50', duration(total.p50Ms)],
      ['Latency p99', duration(total.p99Ms)],
      ['In flight', count(all.reduce((running, { inFlight }) => running + inFlight, 0))],
      ['Sessions', count(sessions)],
      ['Store', store.available ? store.kind : `${store.kind}, away`],
    ]);
    this.#chart.update(sum);
  }
}
