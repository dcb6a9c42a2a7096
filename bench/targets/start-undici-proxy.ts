import { fileURLToPath } from 'node:url';
import { startProgram } from '../program.ts';
import type { Target } from './target.ts';

const PROXY = fileURLToPath(new URL('undici-proxy.ts', import.meta.url));

export async function startUndiciProxy(upstreamPort: number, tokens: readonly string[]): Promise<Target> {
  const command = [process.execPath, '--max-semi-space-size=8', PROXY, String(upstreamPort)];
  const program = await startProgram({ place: 'target', command, ready: /^(\d+)\n/m });
  return {
    port: Number(program.said?.[1]),
    path: '/mcp',
    tokens,
    pids: () => [program.pid],
    stop: program.stop,
  };
}
