// The official SDKs' clients behind one shape, so that a test says once what holds for each of them.
import * as v2 from '@modelcontextprotocol/client';
import { Client as V1Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as V1Transport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import * as z from 'zod';
import { Answers, CAPABILITIES, HeardMessages } from './sdk-client-answers.ts';

export const CLIENT_KINDS = ['v1', 'v2 legacy', 'v2 modern'] as const;
export type ClientKind = (typeof CLIENT_KINDS)[number];

export type Members = Record<string, unknown>;

export interface SdkClient extends AsyncDisposable {
  readonly modern: boolean;
  readonly serverName: string | undefined;
  readonly instructions: string | undefined;
  readonly serverCapabilities: Members | undefined;
  /** What the server asked, and was answered. */
  readonly questions: HeardMessages;
  readonly notifications: HeardMessages;
  listTools(): Promise<string[]>;
  listResources(): Promise<string[]>;
  listTemplates(): Promise<string[]>;
  call(name: string, args?: Members, options?: CallOptions): Promise<CallAnswer>;
  readText(uri: string): Promise<unknown>;
  promptText(name: string, args: Record<string, string>): Promise<unknown>;
  complete(params: Completion): Promise<string[]>;
  /** Any request, with the result as it came. */
  ask(method: string, params?: Members): Promise<Members>;
  /** What the log level is from now on: said once in the old era, with each call in the new one. */
  setLogLevel(level: LogLevel): Promise<void>;
  /** Hears of list changes and of one resource's updates, in the way of its era. */
  watch(uri: string): Promise<{ stop(): Promise<void> }>;
}

export type Completion = Parameters<V1Client['complete']>[0] & Parameters<v2.Client['complete']>[0];
export type LogLevel = 'debug' | 'warning';

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly meta?: Members;
  onprogress?(progress: { progress: number; total?: number | undefined }): void;
}

export interface CallAnswer {
  /** Of the first block. */
  readonly text: string | undefined;
  readonly structuredContent: unknown;
  readonly isError: boolean;
  readonly result: Readonly<Members>;
}

const INFO = { name: 'portico-test', version: '1.0.0' };
const ANY_RESULT = z.looseObject({});

export async function connectClient(kind: ClientKind, url: string): Promise<SdkClient> {
  return kind === 'v1' ? connectV1(url) : connectV2(url, kind === 'v2 modern');
}

async function connectV1(url: string): Promise<SdkClient> {
  const client = new V1Client(INFO, { capabilities: CAPABILITIES });
  const answers = new Answers();
  const notifications = new HeardMessages();
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => answers.elicitation(params));
  client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => answers.sampling(params));
  client.setRequestHandler(ListRootsRequestSchema, () => answers.roots());
  client.fallbackNotificationHandler = async (notification) => notifications.add(notification);
  const transport = new V1Transport(new URL(url));
  await client.connect(transport);
  return {
    ...described(client),
    ...legacyWays(client),
    modern: false,
    questions: answers.questions,
    notifications,
    ask: (method, params = {}) => client.request({ method, params }, ANY_RESULT),
    call: async (name, args = {}, { meta, ...options } = {}) =>
      answerOf(await client.callTool(callParams(name, args, meta), undefined, options)),
    async [Symbol.asyncDispose]() {
      await transport.terminateSession();
      await client.close();
    },
  };
}

async function connectV2(url: string, modern: boolean): Promise<SdkClient> {
  const client = new v2.Client(INFO, {
    capabilities: CAPABILITIES,
    versionNegotiation: { mode: modern ? { pin: '2026-07-28' } : 'legacy' },
  });
  const answers = new Answers();
  const notifications = new HeardMessages();
  client.setRequestHandler('elicitation/create', ({ params }) => answers.elicitation(params));
  client.setRequestHandler('sampling/createMessage', ({ params }) => answers.sampling(params));
  client.setRequestHandler('roots/list', () => answers.roots());
  client.fallbackNotificationHandler = async (notification) => notifications.add(notification);
  const transport = new v2.StreamableHTTPClientTransport(new URL(url));
  await client.connect(transport);
  const ways = modern ? modernWays(client) : legacyWays(client);
  return {
    ...described(client),
    ...ways,
    modern,
    questions: answers.questions,
    notifications,
    ask: (method, params = {}) => client.request({ method, params }, ANY_RESULT),
    call: async (name, args = {}, { meta, ...options } = {}) =>
      answerOf(await client.callTool(callParams(name, args, { ...ways.logMeta(), ...meta }), options)),
    async [Symbol.asyncDispose]() {
      if (!modern) await transport.terminateSession();
      await client.close();
    },
  };
}

/** What the eras do in different ways. */
interface EraWays extends Pick<SdkClient, 'setLogLevel' | 'watch'> {
  logMeta(): Members;
}

function legacyWays(
  client: Pick<V1Client | v2.Client, 'setLoggingLevel' | 'subscribeResource' | 'unsubscribeResource'>,
): EraWays {
  return {
    logMeta: () => ({}),
    setLogLevel: async (level) => void (await client.setLoggingLevel(level)),
    async watch(uri) {
      await client.subscribeResource({ uri });
      return { stop: async () => void (await client.unsubscribeResource({ uri })) };
    },
  };
}

function modernWays(client: v2.Client): EraWays {
  let level: LogLevel | undefined;
  return {
    logMeta: () => (level === undefined ? {} : { [v2.LOG_LEVEL_META_KEY]: level }),
    async setLogLevel(wanted) {
      level = wanted;
    },
    async watch(uri) {
      const filter = { toolsListChanged: true, resourceSubscriptions: [uri] };
      const subscription = await client.listen(filter);
      if (JSON.stringify(subscription.honoredFilter) !== JSON.stringify(filter)) {
        throw new Error(`not all of it is honoured: ${JSON.stringify(subscription.honoredFilter)}`);
      }
      return { stop: () => subscription.close() };
    },
  };
}

/** What both clients spell alike. */
type CommonClient = Pick<
  V1Client | v2.Client,
  | 'getServerVersion'
  | 'getInstructions'
  | 'getServerCapabilities'
  | 'listTools'
  | 'listResources'
  | 'listResourceTemplates'
  | 'readResource'
  | 'getPrompt'
  | 'complete'
>;

type CommonWays = Pick<
  SdkClient,
  | 'serverName'
  | 'instructions'
  | 'serverCapabilities'
  | 'listTools'
  | 'listResources'
  | 'listTemplates'
  | 'readText'
  | 'promptText'
  | 'complete'
>;

function described(client: CommonClient): CommonWays {
  // A client may keep a list as long as its hint allows; these are to be the server's own words.
  const fresh = { cacheMode: 'refresh' as const };
  return {
    serverName: client.getServerVersion()?.name,
    instructions: client.getInstructions(),
    serverCapabilities: client.getServerCapabilities(),
    listTools: async () => (await client.listTools(undefined, fresh)).tools.map(({ name }) => name),
    listResources: async () => (await client.listResources(undefined, fresh)).resources.map(({ uri }) => uri),
    listTemplates: async () =>
      (await client.listResourceTemplates(undefined, fresh)).resourceTemplates.map(
        ({ uriTemplate }) => uriTemplate,
      ),
    readText: async (uri) => {
      const [content] = (await client.readResource({ uri })).contents;
      return content !== undefined && 'text' in content ? content.text : undefined;
    },
    promptText: async (name, args) => {
      const content = (await client.getPrompt({ name, arguments: args })).messages[0]?.content;
      return content?.type === 'text' ? content.text : undefined;
    },
    complete: async (params) => (await client.complete(params)).completion.values,
  };
}

function callParams(name: string, args: Members, meta: Members = {}) {
  return { name, arguments: args, ...(Object.keys(meta).length > 0 && { _meta: meta }) };
}

function answerOf(result: Members): CallAnswer {
  const [block] = (result.content ?? []) as { type: string; text?: string }[];
  return {
    text: block?.text,
    structuredContent: result.structuredContent,
    isError: result.isError === true,
    result,
  };
}
