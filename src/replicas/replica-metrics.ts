// What is counted of traffic among replicas. Every label is of a closed set.
import type { Metrics } from '../telemetry/metrics.ts';

/** answered: to its end, whatever the answer. unreachable: nothing was done over there. lost: nobody knows what was. */
export type ForwardOutcome = 'answered' | 'unreachable' | 'lost' | 'cancelled';
/** refused: of another secret, too old, or of a kind that this version does not know. */
export type EventDirection = 'out' | 'in' | 'refused';

export interface ReplicaMetrics {
  onForwarded(direction: 'out' | 'in', outcome: ForwardOutcome): void;
  /** @param ms from the request to the first byte of the answer, which comes before anything is done */
  onTakenOver(ms: number): void;
  onRefused(reason: string): void;
  onEvent(direction: EventDirection, kind: string): void;
}

export function createReplicaMetrics(metrics: Metrics): ReplicaMetrics {
  const forwards = metrics.counter(
    'portico_replica_forwards_total',
    'Messages of clients handed to another replica (out), or by one (in), by what became of them',
    ['direction', 'outcome'],
  );
  const latency = metrics.histogram(
    'portico_replica_forward_seconds',
    'From handing a message over until the other replica has taken it',
  );
  const refusals = metrics.counter(
    'portico_replica_refusals_total',
    'Requests to the listener for replicas that were not taken, by reason',
    ['reason'],
  );
  const events = metrics.counter(
    'portico_replica_events_total',
    'News among replicas, by direction (out, in, refused) and kind',
    ['direction', 'kind'],
  );
  return {
    onForwarded: (direction, outcome) => forwards.inc({ direction, outcome }),
    onTakenOver: (ms) => latency.observe(ms / 1000),
    onRefused: (reason) => refusals.inc({ reason }),
    onEvent: (direction, kind) => events.inc({ direction, kind }),
  };
}
