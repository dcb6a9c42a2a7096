// A client that sends bytes as they are: for requests that no HTTP library would make.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

export class RawClient {
  readonly socket: Socket;
  /** Everything received so far. */
  received = '';

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.setEncoding('utf8');
    // A cut connection is often what a test is about.
    socket.on('error', () => {});
    socket.on('data', (text) => {
      this.received += text;
    });
  }

  static async open(t: TestContext, port: number): Promise<RawClient> {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true });
    t.after(() => socket.destroy());
    const client = new RawClient(socket);
    await once(socket, 'connect');
    return client;
  }

  send(text: string | Buffer): this {
    this.socket.write(text);
    return this;
  }

  /** Resolves once `text` has been received; rejects when the connection closes first. */
  async until(text: string): Promise<string> {
    while (!this.received.includes(text)) {
      if (this.socket.closed) throw new Error(`closed before "${text}": ${JSON.stringify(this.received)}`);
      await this.more();
    }
    return this.received;
  }

  /** Resolves when something has been received, or the connection has closed. */
  more(): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.socket.off('data', done).off('close', done);
        resolve();
      };
      this.socket.on('data', done).on('close', done);
    });
  }

  /** Resolves with everything received once the server has closed the connection. */
  async closed(): Promise<string> {
    if (!this.socket.closed) await once(this.socket, 'close');
    return this.received;
  }
}

/** Request line, Host, JSON content type, and what else is given. */
export function head(requestLine: string, ...headers: string[]): string {
  return [requestLine, 'Host: 127.0.0.1', 'Content-Type: application/json', ...headers, '', ''].join('\r\n');
}
