// `npm run bench:start`: how long Portico takes to listen, without servers and with ten, from its sources and from dist/
// (`npm run build`). The first start of each, which leaves what Node compiled, is not counted. Argument: how often.
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cpuUsOf } from './machine.ts';
import { startProgram } from './program.ts';

const STARTS = Number(process.argv[2] ?? 9);
const LISTENS = /Portico listens/;
const PROGRAMS = ['src/main.ts', 'dist/main.js'].map((name) => ({
  name,
  file: fileURLToPath(new URL(`../${name}`, import.meta.url)),
}));

interface Start {
  readonly wallMs: number;
  readonly cpuMs: number;
}

const folder = await mkdtemp(join(tmpdir(), 'bench-start-'));
process.stdout.write('program        servers   ms to listen  lowest   CPU ms\n');
for (const servers of [0, 10]) {
  const config = await configOf(servers);
  const programs = PROGRAMS.filter(({ file }) => existsSync(file));
  const starts = new Map<string, Start[]>(programs.map(({ name }) => [name, []]));
  for (const { file } of programs) await startOnce(file, config);
  // In turn, so that a busy moment is everyone's.
  for (let round = 0; round < STARTS; round += 1) {
    for (const { name, file } of programs) starts.get(name)?.push(await startOnce(file, config));
  }
  for (const [name, measured] of starts) {
    const walls = measured.map(({ wallMs }) => wallMs);
    const cells = [median(walls), Math.min(...walls), median(measured.map(({ cpuMs }) => cpuMs))];
    const [wall, lowest, cpu] = cells.map((ms) => ms.toFixed(0).padStart(8));
    process.stdout.write(`${name.padEnd(14)} ${String(servers).padStart(7)}       ${wall}${lowest} ${cpu}\n`);
  }
}
await rm(folder, { recursive: true });

/** Servers that nobody calls and that are not there: nothing of a start waits for them. */
async function configOf(servers: number): Promise<string> {
  const file = join(folder, `portico-${servers}.yaml`);
  const listen = { host: '127.0.0.1', port: 0 };
  const mcpServers = Object.fromEntries(
    Array.from({ length: servers }, (_, index) => [`server-${index}`, { url: 'http://127.0.0.1:9/mcp' }]),
  );
  await writeFile(file, JSON.stringify({ mcpServers, gateway: { listen, admin: listen } }));
  return file;
}

async function startOnce(file: string, config: string): Promise<Start> {
  const startedAt = performance.now();
  const program = await startProgram({
    place: 'target',
    command: [process.execPath, '--max-semi-space-size=16', file, '--config', config],
    ready: LISTENS,
  });
  const wallMs = performance.now() - startedAt;
  const cpuMs = cpuUsOf([program.pid]) / 1_000;
  await program.stop();
  return { wallMs, cpuMs };
}

function median(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}
