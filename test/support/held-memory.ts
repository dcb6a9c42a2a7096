// How much memory is held, once what is garbage has gone.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

export function heldBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}
