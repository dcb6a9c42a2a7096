// The official SDKs' clients behind one shape, so that a test says once what holds for each of them.
import * as v2 from '@modelcontextprotocol/client';
import { Client as V1Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as V1Transport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CreateMessageRequestSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';

export const CLIENT_KINDS = ['v1', 'v2 legacy', 'v2 modern'] as const;
export type ClientKind = (typeof CLIENT_KINDS)[number];

/** What the user and the model say when a server asks. */
export const USER_NAME = 'Ada';
export const MODEL_WORD = 'fjord';

export interface SdkClient extends AsyncDisposable {
  readonly serverName: string | undefined;
  readonly instructions: string | undefined;
  listTools(): Promise<string[]>;
  listResources(): Promise<string[]>;
  listTemplates(): Promise<string[]>;
  listPrompts(): Promise<string[]>;
  call(name: string, args?: Record<string, unknown>, options?: CallOptions): Promise<CallAnswer>;
  readText(uri: string): Promise<unknown>;
  promptText(name: string, args: Record<string, string>): Promise<unknown>;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  onprogress?(progress: { progress: number; total?: number | undefined }): void;
}

export interface CallAnswer {
  /** Of the first block. */
  readonly text: string | undefined;
  readonly structuredContent: unknown;
  readonly isError: boolean;
}

const INFO = { name: 'portico-test', version: '1.0.0' };
const CAPABILITIES = { elicitation: {}, sampling: {} };
const ELICITED = { action: 'accept' as const, content: { name: USER_NAME } };
const SAMPLED = {
  role: 'assistant' as const,
  model: 'test',
  content: { type: 'text' as const, text: MODEL_WORD },
};

export async function connectClient(kind: ClientKind, url: string): Promise<SdkClient> {
  return kind === 'v1' ? connectV1(url) : connectV2(url, kind === 'v2 modern');
}

async function connectV1(url: string): Promise<SdkClient> {
  const client = new V1Client(INFO, { capabilities: CAPABILITIES });
  client.setRequestHandler(ElicitRequestSchema, () => ELICITED);
  client.setRequestHandler(CreateMessageRequestSchema, () => SAMPLED);
  const transport = new V1Transport(new URL(url));
  await client.connect(transport);
  return {
    ...described(client),
    call: async (name, args = {}, options) =>
      answerOf(await client.callTool({ name, arguments: args }, undefined, options)),
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
  client.setRequestHandler('elicitation/create', () => ELICITED);
  client.setRequestHandler('sampling/createMessage', () => SAMPLED);
  const transport = new v2.StreamableHTTPClientTransport(new URL(url));
  await client.connect(transport);
  return {
    ...described(client),
    call: async (name, args = {}, options) =>
      answerOf(await client.callTool({ name, arguments: args }, options)),
    async [Symbol.asyncDispose]() {
      if (!modern) await transport.terminateSession();
      await client.close();
    },
  };
}

/** What both clients spell alike. */
type CommonClient = Pick<
  V1Client | v2.Client,
  | 'getServerVersion'
  | 'getInstructions'
  | 'listTools'
  | 'listResources'
  | 'listResourceTemplates'
  | 'listPrompts'
  | 'readResource'
  | 'getPrompt'
>;

function described(client: CommonClient): Omit<SdkClient, 'call' | typeof Symbol.asyncDispose> {
  return {
    serverName: client.getServerVersion()?.name,
    instructions: client.getInstructions(),
    listTools: async () => (await client.listTools()).tools.map(({ name }) => name),
    listResources: async () => (await client.listResources()).resources.map(({ uri }) => uri),
    listTemplates: async () =>
      (await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate),
    listPrompts: async () => (await client.listPrompts()).prompts.map(({ name }) => name),
    readText: async (uri) => {
      const [content] = (await client.readResource({ uri })).contents;
      return content !== undefined && 'text' in content ? content.text : undefined;
    },
    promptText: async (name, args) => {
      const content = (await client.getPrompt({ name, arguments: args })).messages[0]?.content;
      return content?.type === 'text' ? content.text : undefined;
    },
  };
}

function answerOf(result: Record<string, unknown>): CallAnswer {
  const [block] = (result.content ?? []) as { type: string; text?: string }[];
  return {
    text: block?.text,
    structuredContent: result.structuredContent,
    isError: result.isError === true,
  };
}
