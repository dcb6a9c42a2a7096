// The metrics of servers, read from each at a scrape.
import type { GaugeReading, Metrics } from '../telemetry/metrics.ts';
import type { Server } from './server.ts';
import type { ServerStats } from './server-stats.ts';

type Servers = () => ReadonlyMap<string, Server>;

const COUNTERS: readonly {
  readonly name: string;
  readonly help: string;
  readonly value: (stats: ServerStats) => number;
}[] = [
  {
    name: 'portico_link_starts_total',
    help: 'Links that were started by server, whatever came of it',
    value: ({ starts }) => starts,
  },
  {
    name: 'portico_link_restarts_total',
    help: 'Starts in place of a link that ended by itself, or that failed to start',
    value: ({ restarts }) => restarts,
  },
  {
    name: 'portico_link_handshakes_total',
    help: 'Starts that came to a handshake',
    value: ({ handshakes }) => handshakes,
  },
  {
    name: 'portico_link_handshake_seconds_total',
    help: 'Time from the start of a link to the end of its handshake, over all handshakes',
    value: ({ handshakeMs }) => handshakeMs / 1_000,
  },
  {
    name: 'portico_process_noise_lines_total',
    help: 'Lines on the standard output of child processes that were no message',
    value: ({ totals }) => totals.noiseLines,
  },
  {
    name: 'portico_process_stderr_lines_total',
    help: 'Lines on the standard error of child processes',
    value: ({ totals }) => totals.stderrLines,
  },
  {
    name: 'portico_process_late_replies_total',
    help: 'Answers of child processes to no open call',
    value: ({ totals }) => totals.lateReplies,
  },
  {
    name: 'portico_call_queue_waits_total',
    help: 'Calls that waited for a place under maxInFlight',
    value: ({ totals }) => totals.queueWaits,
  },
  {
    name: 'portico_call_queue_wait_seconds_total',
    help: 'How long they waited in all',
    value: ({ totals }) => totals.queueWaitMs / 1_000,
  },
  {
    name: 'portico_process_cpu_seconds_total',
    help: 'CPU time of child processes and what they started, as last looked at (Linux)',
    value: ({ totals }) => totals.cpuSeconds,
  },
];

const GAUGES: typeof COUNTERS = [
  {
    name: 'portico_process_resident_bytes',
    help: 'Memory of child processes and what they started (Linux)',
    value: ({ present }) => present.rssBytes,
  },
  {
    name: 'portico_processes',
    help: 'Child processes, those being stopped among them',
    value: ({ present }) => present.processes,
  },
  {
    name: 'portico_call_queue_depth',
    help: 'Calls that wait for a place under maxInFlight',
    value: ({ present }) => present.queued,
  },
];

export function watchServers(metrics: Metrics, servers: Servers): void {
  metrics.watch({
    name: 'portico_links',
    help: 'Links by server and state: starting, idle, busy, or spare (open before anybody asked)',
    labelNames: ['server', 'state'],
    *read() {
      for (const [slug, server] of servers()) {
        for (const [state, value] of Object.entries(server.linksByState)) {
          yield { labels: { server: slug, state }, value };
        }
      }
    },
  });
  for (const kind of ['counter', 'gauge'] as const) {
    for (const { name, help, value } of kind === 'counter' ? COUNTERS : GAUGES) {
      const read = () => readings(servers, value);
      metrics.watch({ name, help, kind, labelNames: ['server'], read });
    }
  }
  metrics.watch({
    name: 'portico_process_exits_total',
    help: 'Child processes that ended, by exit code or signal',
    kind: 'counter',
    labelNames: ['server', 'how'],
    *read() {
      for (const [slug, { stats }] of servers()) {
        for (const [how, value] of stats.exits) yield { labels: { server: slug, how }, value };
      }
    },
  });
}

function* readings(servers: Servers, value: (stats: ServerStats) => number): Iterable<GaugeReading> {
  for (const [slug, { stats }] of servers()) yield { labels: { server: slug }, value: value(stats) };
}
