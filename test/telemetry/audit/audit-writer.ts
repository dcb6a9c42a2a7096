// Writes audit records as fast as they are taken, until it is killed.
import { createAuditLog } from '../../../src/telemetry/audit/audit-log.ts';
import { createLogger } from '../../../src/telemetry/logger.ts';

const [path = '', key] = process.argv.slice(2);
const log = createAuditLog({
  config: { path, key, arguments: 'digest', onFailure: 'refuse', maxBytes: 0 },
  version: '0',
  logger: createLogger({ level: 'silent', secrets: [] }),
  redact: (text) => text,
  onDropped: () => {},
});
await log.open();
process.stdout.write('open\n');
setInterval(() => {
  for (let n = 0; n < 100; n += 1) log.write({ n, text: 'x'.repeat(200) });
}, 1);
