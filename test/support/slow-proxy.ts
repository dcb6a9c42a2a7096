// A TCP proxy that makes every byte wait, or forgets connections as a firewall does: nothing comes through them any more,
// and nobody says so.
import { once } from 'node:events';
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net';

export interface SlowProxy extends AsyncDisposable {
  readonly port: number;
  /** How long an answer waits on its way back. */
  delayMs: number;
  /** Forgets the connections that there are, and all new ones too until it is told to stop. */
  swallow(isOn: boolean): void;
  /** The connections that there are now: what goes in is lost. New ones are as good as ever. */
  forgetConnections(): void;
}

export async function startSlowProxy(targetPort: number): Promise<SlowProxy> {
  const sockets = new Set<Socket>();
  let forgotten = new WeakSet<Socket>();
  let swallows = false;
  const server = createServer((near) => {
    const far = createConnection(targetPort, '127.0.0.1');
    for (const socket of [near, far]) {
      sockets.add(socket.setNoDelay(true));
      if (swallows) forgotten.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    near.on('data', (bytes) => {
      if (!forgotten.has(near)) far.write(bytes);
    });
    let dueAt = 0;
    far.on('data', (bytes) => {
      if (forgotten.has(far)) return;
      // Never before what came before it, also when the delay has become shorter.
      dueAt = Math.max(dueAt, performance.now() + proxy.delayMs);
      setTimeout(() => near.write(bytes), Math.max(0, dueAt - performance.now())).unref();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy: SlowProxy = {
    port: (server.address() as AddressInfo).port,
    delayMs: 0,
    swallow(isOn) {
      swallows = isOn;
      if (isOn) proxy.forgetConnections();
    },
    forgetConnections() {
      forgotten = new WeakSet(sockets);
    },
    async [Symbol.asyncDispose]() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
  return proxy;
}
