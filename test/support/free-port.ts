// A port that nobody listens on, for programs that have to be told one. It is below those that the system hands out by
// itself, or any connection that is made meanwhile could take it.
import { once } from 'node:events';
import { createServer } from 'node:net';

const FIRST = 15_000;
const COUNT = 15_000;
const ATTEMPTS = 20;

export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    const server = createServer().listen(port, '127.0.0.1');
    try {
      await once(server, 'listening');
    } catch {
      // Somebody has it.
      continue;
    }
    server.close();
    await once(server, 'close');
    return port;
  }
  throw new Error(`no port was free of ${ATTEMPTS} between ${FIRST} and ${FIRST + COUNT}`);
}
