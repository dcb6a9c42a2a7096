// A well-behaved legacy server over stdio whose tools are called whatever its arguments say. Each answers with its name;
// one named `fails ...` answers with an error of that text, one named `slow ...` after 300 ms.
import { createInterface } from 'node:readline';

const names = process.argv.slice(2);

interface Request {
  readonly id?: string | number;
  readonly method: string;
  readonly params?: { readonly name?: string };
}

function answerTo({ method, params }: Request): Record<string, unknown> {
  if (method === 'initialize') {
    const serverInfo = { name: 'named-tools', version: '1.0.0' };
    return { result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo } };
  }
  if (method === 'tools/list') {
    return { result: { tools: names.map((name) => ({ name, inputSchema: { type: 'object' } })) } };
  }
  const name = params?.name ?? '';
  if (method !== 'tools/call') return { error: { code: -32601, message: 'Method not found' } };
  if (name.startsWith('fails')) return { error: { code: -32000, message: name } };
  return { result: { content: [{ type: 'text', text: name }] } };
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const request = JSON.parse(line) as Request;
  if (request.id === undefined) return;
  const isSlow = request.params?.name?.startsWith('slow') ?? false;
  const frame = `${JSON.stringify({ jsonrpc: '2.0', id: request.id, ...answerTo(request) })}\n`;
  setTimeout(() => process.stdout.write(frame), isSlow ? 300 : 0);
});
