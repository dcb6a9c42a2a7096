import { freePort } from '../../test/support/free-port.ts';
import { startProgram } from '../program.ts';

export interface Redis {
  readonly url: string;
  stop(): Promise<void>;
}

export async function startRedis(): Promise<Redis> {
  const port = await freePort();
  const command = [
    'redis-server',
    '--port',
    `${port}`,
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--appendonly',
    'no',
  ];
  const program = await startProgram({ place: 'others', command, ready: /ready to accept/i });
  return { url: `redis://127.0.0.1:${port}`, stop: program.stop };
}
