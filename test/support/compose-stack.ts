// The compose file of the repository, up under a name of its own, on ports and a network that nobody else has.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { docker, typed } from './docker.ts';
import { freePort } from './free-port.ts';

export interface ComposeStack extends AsyncDisposable {
  /** Of nginx. */
  readonly url: string;
  /** Of the two gateways. */
  readonly adminUrls: readonly [string, string];
  readonly prometheusUrl: string;
  /** A command of `docker compose`. */
  compose(...args: string[]): Promise<string>;
  idOf(service: string): Promise<string>;
  /** A command line of a document, on the ports of this stack instead of those that it names. */
  typed(command: string): Promise<string>;
}

export interface ComposeOptions {
  /** Tells apart what runs at the same time. */
  readonly name: string;
  /** The third part of its network's addresses, 172.31.N.0/24. */
  readonly network: number;
  /** What is laid over the compose file. */
  readonly override?: Readonly<Record<string, unknown>>;
}

const FILE = 'docker-compose.yml';
const WAIT_S = '120';

export async function startCompose({ name, network, override = {} }: ComposeOptions): Promise<ComposeStack> {
  const folder = await mkdtemp(join(tmpdir(), 'portico-compose-'));
  const overrideFile = join(folder, 'override.json');
  await writeFile(overrideFile, JSON.stringify(override));
  const ports = [await freePort(), await freePort(), await freePort(), await freePort()] as const;
  const [publicPort, admin1, admin2, prometheus] = ports;
  const env = {
    COMPOSE_PROJECT_NAME: `portico-${name}-${process.pid}`,
    PORTICO_NETWORK: `172.31.${network}`,
    PORTICO_PORT: String(publicPort),
    PORTICO_ADMIN_PORT_1: String(admin1),
    PORTICO_ADMIN_PORT_2: String(admin2),
    PROMETHEUS_PORT: String(prometheus),
  };
  const files = ['--file', FILE, '--file', overrideFile];
  const compose = (...args: string[]) => docker(['compose', ...files, ...args], env);
  const down = async () => {
    await compose('down', '--volumes', '--timeout', '30');
    await rm(folder, { recursive: true });
  };
  try {
    await compose('up', '--build', '--detach', '--wait', '--wait-timeout', WAIT_S);
  } catch (thrown) {
    const log = await compose('logs', '--tail', '50').catch(String);
    await down();
    throw new Error(`the compose file did not come up: ${thrown}\n${log}`);
  }
  return {
    url: `http://127.0.0.1:${publicPort}/mcp`,
    adminUrls: [`http://127.0.0.1:${admin1}`, `http://127.0.0.1:${admin2}`],
    prometheusUrl: `http://127.0.0.1:${prometheus}`,
    compose,
    idOf: (service) => compose('ps', '--quiet', '--all', service),
    typed(command) {
      const told = { 8080: publicPort, 9091: admin1, 9092: admin2 };
      return typed(
        command.replace(/\b(?:8080|909[12])\b/g, (port) => String(told[Number(port) as keyof typeof told])),
        { env },
      );
    },
    [Symbol.asyncDispose]: down,
  };
}
