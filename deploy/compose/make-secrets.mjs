// Makes each secret of the compose file that is not there yet, readable for the user of the image alone.
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, writeFileSync } from 'node:fs';

const [, , folder] = process.argv;
const PORTICO_USER = 1000;

for (const name of ['admin-token', 'replica-secret']) {
  const file = `${folder}/${name}`;
  if (existsSync(file)) continue;
  writeFileSync(file, randomBytes(32).toString('hex'), { mode: 0o400, flag: 'wx' });
  chownSync(file, PORTICO_USER, PORTICO_USER);
}
