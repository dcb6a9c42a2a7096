// The client of `npm run bench:lists`: asks for the tools when it is told to, and says how many there were.
import { ModernClient } from '../test/support/raw-session.ts';

const client = new ModernClient(process.argv[2] ?? '', { keepAlive: true });
process.on('message', async () => {
  const { result } = await client.ask('tools/list');
  const { tools } = result as { tools: unknown[] };
  process.send?.(tools.length);
});
process.on('disconnect', () => void client[Symbol.asyncDispose]());
