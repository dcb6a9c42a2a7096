// The listener for other replicas, where there are any: what they hand over goes down the line of the config that holds.
import { createReplicaServer, type ReplicaServer } from '../http/replica-server.ts';
import { ForwardedExchanges } from '../pipeline/forwarded-exchanges.ts';
import { exchangeLine } from '../telemetry/exchange-log.ts';
import { endTrace } from '../telemetry/tracing.ts';
import type { Editions } from './editions.ts';
import type { LastingParts } from './lasting-parts.ts';

export function replicaListener(
  { replica, bridge, logger, budget, tracing }: LastingParts,
  editions: Editions,
  isDraining: () => boolean,
): ReplicaServer | undefined {
  if (replica === undefined) return undefined;
  const { config, network, keys, metrics } = replica;
  const forwarded = new ForwardedExchanges(bridge.state, network.id, isDraining);
  return createReplicaServer({
    ...{ logger, budget, keys },
    listen: config.listen,
    self: network.id,
    bodyLimitBytes: () => editions.current.config.gateway.bodyLimitBytes,
    signIn: () => editions.current.authenticator,
    handleExchange: (exchange) => forwarded.run(exchange, (one) => editions.current.handle(one)),
    onRefused: (fault) => replica.onRefused(fault),
    // Counted and logged as an exchange where its client is.
    onSettled(record, { kind }) {
      logger.debug(exchangeLine(record), 'forwarded exchange');
      metrics.onForwarded('in', record.outcome === 'cancelled' ? 'cancelled' : 'answered');
      // Word that a client has left is about an exchange that has a span.
      if (kind !== 'left') endTrace(tracing, record, 'handed-over');
    },
  });
}
