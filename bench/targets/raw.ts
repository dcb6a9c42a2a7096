// The bare servers as programs.
import { fileURLToPath } from 'node:url';
import type { Era } from '../load/client-requests.ts';
import type { Place } from '../machine.ts';
import { startProgram } from '../program.ts';
import type { Target } from './target.ts';

const HTTP_SERVER = fileURLToPath(new URL('../raw/http-server.ts', import.meta.url));
const STDIO_SERVER = fileURLToPath(new URL('../raw/stdio-server.ts', import.meta.url));

export function stdioServerCommand(era: Era): [string, ...string[]] {
  return [process.execPath, STDIO_SERVER, era];
}

export async function startRawServer(
  place: Place,
  { era, tools = 10 }: { era: Era; tools?: number },
): Promise<Target> {
  const command = [process.execPath, HTTP_SERVER, era, String(tools)];
  const program = await startProgram({ place, command, ready: /^(\d+)\n/m });
  return {
    port: Number(program.said?.[1]),
    path: '/mcp',
    tokens: [undefined],
    pids: () => [program.pid],
    stop: program.stop,
  };
}
