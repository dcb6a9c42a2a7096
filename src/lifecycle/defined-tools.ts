// Every tool that a server defines for anybody: some are there only for clients that can answer questions, and a server
// is asked as both kinds of client.
import { isDeepStrictEqual } from 'node:util';
import { capabilitiesForModern, crossedCapabilities } from '../bridge/client-features.ts';
import type { ServerCatalogue } from '../federation/server-catalogue.ts';
import type { JsonObject } from '../protocol/json-text.ts';
import type { StopSignal } from '../runtime/stop.ts';
import type { Server } from '../servers/server.ts';
import { withinTime } from '../servers/within-time.ts';

/** All that a client can declare and a server could ask for. */
const EVERYTHING: JsonObject = {
  elicitation: { form: {}, url: {} },
  roots: {},
  sampling: { context: {}, tools: {} },
};

export interface DefinedTools {
  /** By the server's own names, in its order. */
  readonly tools: ReadonlyMap<string, JsonObject>;
  /** Tools that it defines in one way for some clients, in another for others; the plainest client's is taken. */
  readonly ambiguous: readonly string[];
}

/** @throws GatewayError when the server cannot be asked */
export async function definedTools(
  server: Server,
  catalogue: ServerCatalogue,
  signal: StopSignal,
): Promise<DefinedTools> {
  const { client, startTimeoutMs } = server.config;
  const linkFor = (capabilities: JsonObject) =>
    // Probe and handshake each have the start timeout.
    withinTime(server.catalogueLink(undefined, capabilities), startTimeoutMs * 2, signal);
  const plain = await linkFor({});
  const forPlain = await catalogue.table(plain, 'tools', { signal });
  const isModern = plain.peer.era === 'modern';
  // Nothing is declared on a link that legacy callers share.
  if (!isModern && server.isolationFor(plain.peer) === 'shared') return { tools: forPlain, ambiguous: [] };
  const full = isModern ? plain : await linkFor(crossedCapabilities(EVERYTHING, client));
  const clientCapabilities = capabilitiesForModern({ era: 'modern', capabilities: EVERYTHING }, client);
  const forFull = await catalogue.table(full, 'tools', { signal, clientCapabilities });
  const both = [...forPlain.keys()].filter((name) => forFull.has(name));
  return {
    tools: new Map([...forFull, ...forPlain]),
    ambiguous: both.filter((name) => !isDeepStrictEqual(forPlain.get(name), forFull.get(name))),
  };
}
