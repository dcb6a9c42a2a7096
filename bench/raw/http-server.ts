// A bare MCP server over HTTP/1.1, one era a process: no SDK and no HTTP library, or it would cost more than what
// stands before it. It trusts whoever asks, and must never be more than the far end of a benchmark.
// Arguments: era, how many tools it lists. Prints its port.
import { createServer, type Socket } from 'node:net';
import { type RawMessage, rawAnswers } from './answers.ts';

const [era = 'modern', tools = '10'] = process.argv.slice(2);
const answers = rawAnswers(era === 'legacy' ? 'legacy' : 'modern', Number(tools));
const HEAD_END = '\r\n\r\n';
const NO_CONTENT = Buffer.alloc(0);

const server = createServer({ noDelay: true }, serve);
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.stdout.write(`${typeof address === 'object' ? address?.port : ''}\n`);
});
process.on('SIGTERM', () => process.exit(0));

function serve(socket: Socket): void {
  let unread: Buffer = NO_CONTENT;
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk: Buffer) => {
    unread = unread.length === 0 ? chunk : Buffer.concat([unread, chunk]);
    socket.cork();
    for (;;) {
      const headEnd = unread.indexOf(HEAD_END);
      if (headEnd < 0) break;
      const head = unread.toString('latin1', 0, headEnd);
      const bodyStart = headEnd + HEAD_END.length;
      const bodyEnd = bodyStart + Number(/content-length: *(\d+)/i.exec(head)?.[1] ?? 0);
      if (unread.length < bodyEnd) break;
      const body = unread.toString('utf8', bodyStart, bodyEnd);
      unread = unread.subarray(bodyEnd);
      if (head.startsWith('POST')) answer(socket, JSON.parse(body) as RawMessage);
      else writeStatus(socket, head.startsWith('DELETE') ? '200 OK' : '405 Method Not Allowed');
    }
    socket.uncork();
  });
}

function answer(socket: Socket, message: RawMessage): void {
  if (message.id === undefined) {
    writeStatus(socket, '202 Accepted');
    return;
  }
  const result = answers.resultOf(message);
  const id = JSON.stringify(message.id);
  const [before, content, after] =
    result === undefined
      ? [`{"jsonrpc":"2.0","id":${id},"error":{"code":-32601,"message":"no such method"}`, NO_CONTENT, '}']
      : [`{"jsonrpc":"2.0","id":${id},"result":`, result, '}'];
  const session = message.method === 'initialize' ? 'Mcp-Session-Id: raw\r\n' : '';
  if (message.params?.name?.endsWith('_events')) {
    const lead = `event: message\ndata: ${before}`;
    const end = `${after}\n\n`;
    const bytes = lead.length + content.length + end.length;
    socket.write(
      `HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n${bytes.toString(16)}\r\n${lead}`,
    );
    socket.write(content);
    socket.write(`${end}\r\n0\r\n\r\n`);
    return;
  }
  const length = before.length + content.length + after.length;
  const lines = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n${session}Content-Length: ${length}\r\n\r\n`;
  if (content.length < 4096) {
    // One write, one packet.
    socket.write(`${lines}${before}${content.toString('latin1')}${after}`, 'latin1');
    return;
  }
  socket.write(lines + before);
  socket.write(content);
  socket.write(after);
}

function writeStatus(socket: Socket, status: string): void {
  socket.write(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\n\r\n`);
}
