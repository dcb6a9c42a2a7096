// What the admin listener tells besides `/status`: traffic, recent exchanges, tools. Names of servers and tools, codes
// and times; no arguments, no tokens, no session ids, nobody's name.
import { toolReport } from '../federation/tool-report.ts';
import type { Server } from '../servers/server.ts';
import { STEP_MS } from '../telemetry/traffic.ts';
import type { Editions } from './editions.ts';
import type { LastingParts } from './lasting-parts.ts';

export function consoleDocuments({ traffic, recent }: LastingParts, editions: Editions) {
  return {
    '/status/traffic': () => {
      const now = performance.now();
      return {
        stepSeconds: STEP_MS / 1_000,
        sum: traffic.sum(now),
        servers: byServer(editions, ({ slug }) => traffic.of(slug, now)),
      };
    },
    '/status/exchanges': () => recent.read(),
    '/status/tools': () => {
      const { shapes, catalogue } = editions.current.context;
      return {
        pins: editions.current.config.gateway.pins?.mode ?? null,
        servers: byServer(editions, (server) =>
          toolReport({ server, shape: shapes.of(server.slug), catalogue }),
        ),
      };
    },
  };
}

function byServer<T>(editions: Editions, make: (server: Server) => T): Record<string, T> {
  const { servers } = editions.current.context;
  return Object.fromEntries([...servers].map(([slug, server]) => [slug, make(server)]));
}
