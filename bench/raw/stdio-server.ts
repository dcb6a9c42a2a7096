// A bare MCP server on its standard streams, of either era: fixed answers, no SDK. Argument: era.
import { type RawMessage, rawAnswers } from './answers.ts';

const answers = rawAnswers(process.argv[2] === 'legacy' ? 'legacy' : 'modern', 10);
let unread = '';

process.stdin.setEncoding('utf8').on('data', (text: string) => {
  const lines = (unread + text).split('\n');
  unread = lines.pop() ?? '';
  let out = '';
  for (const line of lines) {
    const message = JSON.parse(line) as RawMessage;
    if (message.id === undefined || message.method === undefined) continue;
    const id = JSON.stringify(message.id);
    const result = answers.resultOf(message);
    out +=
      result === undefined
        ? `{"jsonrpc":"2.0","id":${id},"error":{"code":-32601,"message":"no such method"}}\n`
        : `{"jsonrpc":"2.0","id":${id},"result":${result}}\n`;
  }
  // All answers that are ready, in one write.
  if (out !== '') process.stdout.write(out);
});
