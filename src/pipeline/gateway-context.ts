// What the line needs of the gateway that it runs in. One context is one config: each exchange takes the current one at
// its start and keeps it to its end, whatever is reloaded meanwhile.

import type { Limits } from '../access/limits/limits.ts';
import type { AccessPolicy } from '../access/rules/access-policy.ts';
import type { Toolset } from '../access/rules/toolset-access.ts';
import type { BridgeState } from '../bridge/carried-call.ts';
import type { RetryPasses } from '../bridge/parking/retry-passes.ts';
import type { LegacySessions } from '../bridge/sessions/legacy-sessions.ts';
import type { GatewayConfig } from '../config/config.ts';
import type { KnownLists } from '../federation/known-lists.ts';
import type { ServerCatalogue } from '../federation/server-catalogue.ts';
import type { ToolShapes } from '../federation/tool-shapes.ts';
import type { WithheldNames } from '../federation/withheld-names.ts';
import type { ReplicaEvent, Replicas } from '../replicas/replicas.ts';
import type { StopSignal } from '../runtime/stop.ts';
import type { Credentials } from '../servers/credentials/credentials.ts';
import type { ClientIdentity } from '../servers/peer.ts';
import type { Server } from '../servers/server.ts';
import type { Auditor } from '../telemetry/audit/auditor.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import type { OpenListens } from './open-listens.ts';
import type { OpenStreams } from './open-streams.ts';

/** As a server has said it on some link. */
export type ChangedList = Omit<Extract<ReplicaEvent, { kind: 'list-changed' }>, 'kind'>;

export interface GatewayContext {
  readonly config: GatewayConfig;
  readonly access: AccessPolicy;
  /** By name; their views are /mcp/~NAME. */
  readonly toolsets: ReadonlyMap<string, Toolset>;
  /** By slug, in the config's order. */
  readonly servers: ReadonlyMap<string, Server>;
  readonly catalogue: ServerCatalogue;
  /** What clients get to see of each server's tools. */
  readonly shapes: ToolShapes;
  readonly lists: KnownLists;
  readonly withheld: WithheldNames;
  /** What Portico says of itself, to servers and where it stands for several of them. */
  readonly identity: ClientIdentity;
  readonly sessions: LegacySessions;
  readonly listens: OpenListens;
  readonly streams: OpenStreams;
  readonly bridge: BridgeState;
  readonly credentials: Pick<Credentials, 'toHandOver' | 'forgetHandedOver'>;
  readonly limits: Limits;
  readonly retries: RetryPasses;
  /** Undefined where this is the only one. */
  readonly replicas: Replicas | undefined;
  /** Tells other replicas that a list has changed; undefined where there are none. */
  readonly news: { publish(change: ChangedList): void } | undefined;
  /** Undefined where no record of calls is kept. */
  readonly auditor: Auditor | undefined;
  readonly logger: Logger;
  /** Undefined where no OpenTelemetry SDK is loaded. */
  readonly tracing: Tracing | undefined;
  /** Aborts when the gateway has drained: what is answered on another replica ends. */
  readonly ending: StopSignal;
  /** The context of this moment, for what outlives reloads: streams are judged by what holds now. */
  current(): GatewayContext;
}
