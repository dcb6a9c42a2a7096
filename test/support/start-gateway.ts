// A gateway in the test's own process, on free ports, made of plain config objects. Where PORTICO_TEST_REPLICAS says
// how many, it is as many replicas behind a load balancer: what holds for one gateway has to hold for them.
import type { LogLine } from './gateway-logs.ts';
import { replicasWanted } from './replicas-wanted.ts';
import { runGateways, type StartOptions } from './running-gateways.ts';
import { startReplicas } from './start-replicas.ts';
import { type StartedGateway, startedGateway } from './started-gateway.ts';

export type { LogLine, StartedGateway, StartOptions };

export async function startGateway(options: StartOptions): Promise<StartedGateway> {
  const count = replicasWanted();
  if (count > 0) return startReplicas({ ...options, count });
  const running = await runGateways(options, [(config) => config]);
  const [only = { url: '', adminUrl: '' }] = running.members;
  return startedGateway(running, { ...only, close: running.close });
}
