// Which of several replicas a key belongs to, by rendezvous hash (highest random weight): all that know of the same
// replicas agree without asking, and when one leaves, only what was its own moves.
import { createHash } from 'node:crypto';

/** @param ids in any order; undefined where there are none */
export function rendezvous(key: string, ids: Iterable<string>): string | undefined {
  let home: string | undefined;
  let highest = '';
  for (const id of ids) {
    const weight = createHash('sha256').update(`${id}\n${key}`).digest('hex');
    if (weight <= highest) continue;
    home = id;
    highest = weight;
  }
  return home;
}
