// redis-server in a container. Testcontainers makes it; the engine's own commands stop, start and pause it.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { StartedTestContainer } from 'testcontainers';
import type { RedisHost, RedisSetup } from './redis.ts';

const FOLDER = '/tmp/files';
const IMAGES = ['local/redis:8', 'redis:8-alpine'];

const docker = async (...args: string[]) => {
  const { stdout } = await promisify(execFile)('docker', args);
  return stdout.trim();
};

let found: Promise<string | undefined> | undefined;

/** An image that is there already, if there is an engine at all. PORTICO_TEST_REDIS=process says to use none. */
export function redisImage(): Promise<string | undefined> {
  found ??= findImage();
  return found;
}

async function findImage(): Promise<string | undefined> {
  const { PORTICO_TEST_REDIS, REDIS_IMAGE } = process.env;
  if (PORTICO_TEST_REDIS === 'process') return undefined;
  for (const image of [...(REDIS_IMAGE === undefined ? [] : [REDIS_IMAGE]), ...IMAGES]) {
    const isThere = await docker('image', 'inspect', '--format', '{{.Id}}', image).then(
      () => true,
      () => false,
    );
    if (isThere) return image;
  }
  return undefined;
}

export function redisContainer(image: string, setup: RedisSetup): RedisHost {
  let container: StartedTestContainer | undefined;
  let paused = false;

  return {
    async start() {
      if (container !== undefined) {
        await docker('start', container.getId());
        return;
      }
      // Its reaper is an image of its own, which need not be there; `close` removes the container.
      process.env.TESTCONTAINERS_RYUK_DISABLED = 'true';
      const { GenericContainer, Wait } = await import('testcontainers');
      const fixed = ['--bind', '0.0.0.0', '--protected-mode', 'no', '--save', ''];
      container = await new GenericContainer(image)
        .withExposedPorts({ container: setup.port, host: setup.port })
        .withCopyContentToContainer(
          Object.entries(setup.files).map(([name, content]) => ({ content, target: `${FOLDER}/${name}` })),
        )
        .withCommand([...fixed, ...setup.arguments(FOLDER)])
        .withWaitStrategy(Wait.forListeningPorts())
        .start();
    },
    async stop() {
      if (container !== undefined) await docker('kill', container.getId());
    },
    async pause() {
      if (container !== undefined) await docker('pause', container.getId());
      paused = true;
    },
    async resume() {
      if (container !== undefined) await docker('unpause', container.getId());
      paused = false;
    },
    async close() {
      if (container === undefined) return;
      if (paused) await docker('unpause', container.getId());
      await docker('rm', '--force', container.getId());
      container = undefined;
    },
  };
}
