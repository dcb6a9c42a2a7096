// `npm run replicas:kill`: one of three replicas is killed under load, and what it did to clients. Ends with 1 where it
// cost anybody more than it may. Arguments: --clients=N of each kind, --seconds=N before the kill and again after it.
import { startRedis } from '../support/redis.ts';
import { faultsOf, renderKill } from './kill-report.ts';
import { killOneUnderLoad } from './killed-replica.ts';

const option = (name: string, otherwise: number) =>
  Number(
    process.argv.find((argument) => argument.startsWith(`--${name}=`))?.slice(name.length + 3) ?? otherwise,
  );

await using redis = await startRedis();
const report = await killOneUnderLoad({
  redisUrl: redis.url,
  clients: option('clients', 30),
  seconds: option('seconds', 20),
});
const faults = faultsOf(report);
process.stdout.write(`${[renderKill(report), ...faults].join('\n')}\n`);
process.exitCode = faults.length > 0 ? 1 : 0;
