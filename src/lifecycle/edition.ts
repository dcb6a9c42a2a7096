// What lives as long as one config, made whole before anything of it is used. Whatever the config before it made, and
// would be made the same again, is taken over: servers keep their links, tokens their place in the cache.

import { isDeepStrictEqual } from 'node:util';
import { IdentityKeys } from '../access/identity-keys.ts';
import { Limits } from '../access/limits/limits.ts';
import { createAccessPolicy } from '../access/rules/access-policy.ts';
import { Toolset } from '../access/rules/toolset-access.ts';
import { type Authenticator, createAuthenticator } from '../access/sign-in/authenticator.ts';
import type { Config, ServerConfig } from '../config/config.ts';
import { ToolShapes } from '../federation/tool-shapes.ts';
import type { EdgeSettings } from '../http/edge-parts.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { GatewayContext } from '../pipeline/gateway-context.ts';
import { handleExchange } from '../pipeline/handle-exchange.ts';
import type { StopHearer } from '../runtime/stop.ts';
import { isPersonal } from '../servers/credentials/caller.ts';
import { createCredentials } from '../servers/credentials/credentials.ts';
import { IssuerNames } from '../servers/credentials/issuer-names.ts';
import { createFetchJson } from '../servers/http/fetch-json.ts';
import { createOutbound, type Outbound } from '../servers/http/outbound.ts';
import { transportOpener } from '../servers/open-transport.ts';
import { Server } from '../servers/server.ts';
import type { LastingParts } from './lasting-parts.ts';

export interface EditionOptions {
  readonly config: Config;
  readonly lasting: LastingParts;
  current(): GatewayContext;
  /** The edition that this one is to follow. */
  readonly before?: Edition;
}

export class Edition implements StopHearer {
  readonly config: Config;
  readonly context: GatewayContext;
  readonly authenticator: Authenticator;
  readonly outbound: Outbound;
  readonly identityKeys: IdentityKeys | undefined;
  #running = 0;
  #replaced = false;
  readonly #over = Promise.withResolvers<void>();

  constructor({ config, lasting, current, before }: EditionOptions) {
    const { gateway } = config;
    const { logger, identity, store, places, guardian, usages } = lasting;
    const scopeImplies = gateway.access?.scopeImplies ?? {};
    const was = before?.config.gateway;
    this.config = config;
    this.outbound =
      before !== undefined && isDeepStrictEqual(was?.outbound, gateway.outbound)
        ? before.outbound
        : createOutbound(gateway.outbound);
    const keepsOutbound = this.outbound === before?.outbound;
    const keepsSignIn =
      keepsOutbound &&
      isDeepStrictEqual(
        [was?.auth, was?.publicUrl, was?.access?.scopeImplies ?? {}],
        [gateway.auth, gateway.publicUrl, scopeImplies],
      );
    this.authenticator =
      before !== undefined && keepsSignIn
        ? before.authenticator
        : createAuthenticator({
            auth: gateway.auth,
            publicUrl: gateway.publicUrl,
            logger,
            fetchJson: createFetchJson(this.outbound),
            scopeImplies,
            onKeyFetch: lasting.onKeyFetch,
            onKeysChanged: (issuer) => lasting.replicas?.publish({ kind: 'keys-changed', issuer }),
          });
    const hasAuth = gateway.auth !== undefined;
    const keepsAccess =
      isDeepStrictEqual(was?.access, gateway.access) && hasAuth === (was?.auth !== undefined);
    this.identityKeys = gateway.identity && new IdentityKeys(gateway.identity, gateway.publicUrl);
    const credentials = createCredentials({
      fetchJson: createFetchJson(this.outbound),
      signer: this.identityKeys,
      issuers: new IssuerNames(gateway.auth),
      logger,
      now: Date.now,
      onFailure: lasting.onCredentialFailure,
    });
    const openTransport = transportOpener({
      outbound: this.outbound,
      credentials,
      logger,
      budget: lasting.budget,
      guardian,
      hurry: lasting.hurrying.signal,
    });
    // What such servers are told of callers depends on more than their own entries.
    const keepsPersons = isDeepStrictEqual(
      [was?.auth, was?.publicUrl, was?.identity],
      [gateway.auth, gateway.publicUrl, gateway.identity],
    );
    const serverOf = (server: ServerConfig) => {
      const known = before?.context.servers.get(server.slug);
      const isSame = (server.type === 'stdio' || keepsOutbound) && (!isPersonal(server) || keepsPersons);
      if (known !== undefined && isSame && isDeepStrictEqual(known.config, server)) return known;
      return new Server({ config: server, identity, openTransport, logger, places, usages });
    };
    const shapes = new ToolShapes(config, logger, before?.context.shapes);
    this.context = {
      config: gateway,
      access:
        before !== undefined && keepsAccess && shapes.isWithin(before.context.shapes)
          ? before.context.access
          : createAccessPolicy({
              hasAuth,
              access: gateway.access,
              annotationsOf: (server, tool) => shapes.of(server).annotationsOf(tool),
            }),
      shapes,
      toolsets: new Map(
        Object.entries(gateway.toolsets).map(([name, targets]) => [name, new Toolset(name, targets)]),
      ),
      servers: new Map(config.servers.map((server) => [server.slug, serverOf(server)])),
      catalogue: lasting.catalogue,
      lists: lasting.lists,
      withheld: lasting.withheld,
      identity,
      sessions: lasting.sessions,
      listens: lasting.listens,
      streams: lasting.streams,
      bridge: lasting.bridge,
      credentials,
      limits: new Limits(
        {
          limits: gateway.limits,
          store,
          onFallback: lasting.onLimitFallback,
          onDecision: lasting.onLimitDecision,
        },
        before?.context.limits,
      ),
      retries: lasting.retries,
      replicas: lasting.replicas,
      news: lasting.news,
      auditor: lasting.audit?.auditor,
      logger,
      tracing: lasting.tracing,
      ending: lasting.ending.signal,
      current,
    };
  }

  /** What the HTTP edge does by this config. */
  get edge(): EdgeSettings {
    const { limits } = this.context;
    return {
      config: this.config.gateway,
      signIn: this.authenticator,
      identityKeys: this.identityKeys,
      ipGuard: {
        guards: limits.guards,
        admitAddress: this.config.gateway.redis && ((arrival) => limits.admitAddress(arrival)),
      },
    };
  }

  /** Exchanges that began with this config and are not over. */
  get running(): number {
    return this.#running;
  }

  /** Resolves when the exchange is over, or stands; it counts as running until it is over. */
  async handle(exchange: Exchange): Promise<void> {
    this.#running += 1;
    try {
      await handleExchange(this.context, exchange);
    } finally {
      const { standing } = exchange;
      if (standing === undefined || standing.aborted) this.#leave();
      else standing.addEventListener('abort', this);
    }
  }

  /** What stood is over. */
  handleEvent(): void {
    this.#leave();
  }

  /** No exchange begins with it any more. @returns a promise for when the last one that did is over */
  replaced(): Promise<void> {
    this.#replaced = true;
    this.#settle();
    return this.#over.promise;
  }

  #leave(): void {
    this.#running -= 1;
    this.#settle();
  }

  #settle(): void {
    if (this.#replaced && this.#running === 0) this.#over.resolve();
  }
}
