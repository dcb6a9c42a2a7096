// What is asked of others at each scrape of the metrics.
import type { PublicServer } from '../http/server.ts';
import { watchServers } from '../servers/watch-servers.ts';
import type { Editions } from './editions.ts';
import type { LastingParts } from './lasting-parts.ts';

export function watchState(
  { metrics, sessions, bridge, budget }: LastingParts,
  editions: Editions,
  edge: PublicServer,
): void {
  watchServers(metrics, () => editions.current.context.servers);
  metrics.watch({
    name: 'portico_links_retiring',
    help: 'Open links of servers that left the config, or changed in it, and still finish calls',
    read: () => editions.retiring.reduce((sum, { openLinks }) => sum + openLinks, 0),
  });
  metrics.watch({
    name: 'portico_unapproved_tools',
    help: 'Tools that portico.lock has otherwise (changed) or not at all (new), by server',
    labelNames: ['server', 'problem'],
    *read() {
      const { config, context } = editions.current;
      if (config.gateway.pins === undefined) return;
      for (const server of context.servers.keys()) {
        const { findings } = context.shapes.of(server);
        for (const problem of ['changed', 'new'] as const) {
          yield { labels: { server, problem }, value: findings.count(problem) };
        }
      }
    },
  });
  metrics.watch({ name: 'portico_sessions', help: 'Open legacy sessions', read: () => sessions.size });
  metrics.watch({
    name: 'portico_parked_calls',
    help: 'Calls that wait for an answer of their client',
    read: () => bridge.parked.parked,
  });
  metrics.watch({
    name: 'portico_open_replies',
    help: 'Answers not ended yet',
    read: () => edge.openReplies,
  });
  metrics.watch({ name: 'portico_open_streams', help: 'Open event streams', read: () => edge.openStreams });
  metrics.watch({
    name: 'portico_buffered_bytes',
    help: 'Bytes held for clients and servers; gateway.maxBuffered bounds them',
    read: () => budget.usedBytes,
  });
  metrics.watch({
    name: 'portico_replay_bytes',
    help: 'Of those, what is kept for clients that come back for it; it gives way to all else',
    read: () => budget.spareBytes,
  });
}
