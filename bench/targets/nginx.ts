// nginx as operators set it up before an MCP server: one worker, an access log, a limit by caller.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../test/support/free-port.ts';
import { childrenOf } from '../machine.ts';
import { startProgram } from '../program.ts';
import type { Target } from './target.ts';

export async function startNginx(
  folder: string,
  upstreamPort: number,
  tokens: readonly string[],
): Promise<Target> {
  const home = join(folder, `nginx-${upstreamPort}`);
  await mkdir(home, { recursive: true });
  const port = await freePort();
  await writeFile(join(home, 'nginx.conf'), configText({ home, port, upstreamPort }));
  const command = ['nginx', '-p', home, '-e', join(home, 'error.log'), '-c', join(home, 'nginx.conf')];
  const program = await startProgram({ place: 'target', command, logFile: join(home, 'stderr.log') });
  for (let tries = 0; childrenOf(program.pid).length === 0 && tries < 100; tries += 1) await delay(20);
  await delay(100);
  return {
    port,
    path: '/mcp',
    tokens,
    pids: () => childrenOf(program.pid),
    stop: program.stop,
  };
}

/** Answers are not buffered: event streams would not come through. */
function configText({
  home,
  port,
  upstreamPort,
}: {
  home: string;
  port: number;
  upstreamPort: number;
}): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${join(home, kind)};`,
  );
  return `
daemon off;
worker_processes 1;
${process.getuid?.() === 0 ? 'user root;' : ''}
pid ${join(home, 'nginx.pid')};
events { worker_connections 2048; }
http {
  ${temporary.join('\n  ')}
  access_log ${join(home, 'access.log')} combined buffer=64k flush=1s;
  limit_req_zone $http_authorization zone=callers:10m rate=1000000r/s;
  keepalive_requests 100000000;
  upstream server { server 127.0.0.1:${upstreamPort}; keepalive 64; keepalive_requests 100000000; }
  server {
    listen 127.0.0.1:${port};
    location / {
      limit_req zone=callers burst=100000 nodelay;
      proxy_pass http://server;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
    }
  }
}
`;
}
