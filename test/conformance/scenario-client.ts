// The client that the suite's client scenarios run, with a mock server's URL as its argument: it does everything
// that the server offers. With `PORTICO_BETWEEN` set it reaches the server through a Portico that it starts itself.
import { Client, StreamableHTTPClientTransport, type Tool } from '@modelcontextprotocol/client';
import { startGateway } from '../support/gateway-process.ts';

interface ToolCall {
  readonly name: string;
  readonly arguments?: Record<string, unknown>;
}

/** Well under the suite's own, which would end this process without ending the Portico that it started. */
const CALL_TIMEOUT_MS = 10_000;

const serverUrl = process.argv.at(-1) ?? '';
const modern = process.env.MCP_CONFORMANCE_PROTOCOL_VERSION === '2026-07-28';
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}') as { toolCalls?: ToolCall[] };

if (process.env.PORTICO_BETWEEN === undefined) {
  await doEverything(serverUrl);
} else {
  const config = { mcpServers: { mock: { url: serverUrl } }, gateway: { drain: { grace: '1s' } } };
  await using gateway = await startGateway({ config });
  await doEverything(gateway.url);
}

async function doEverything(url: string): Promise<void> {
  const client = new Client(
    { name: 'portico-conformance', version: '1.0.0' },
    {
      capabilities: { elicitation: { form: { applyDefaults: true } }, sampling: {}, roots: {} },
      versionNegotiation: { mode: modern ? 'auto' : 'legacy' },
    },
  );
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: {} }));
  const transport = new StreamableHTTPClientTransport(new URL(url));
  await client.connect(transport);
  const offered = client.getServerCapabilities() ?? {};
  if (offered.tools) await callTools(client);
  if (offered.resources) {
    for (const { uri } of (await client.listResources()).resources) await client.readResource({ uri });
  }
  if (offered.prompts) {
    for (const { name } of (await client.listPrompts()).prompts) await client.getPrompt({ name });
  }
  await client.close();
}

async function callTools(client: Client): Promise<void> {
  const { tools } = await client.listTools();
  const calls =
    context.toolCalls ?? tools.map((tool) => ({ name: tool.name, arguments: argumentsFor(tool, tools) }));
  // A scenario may refuse one call, which says nothing of the next.
  for (const call of calls) await client.callTool(call, { timeout: CALL_TIMEOUT_MS }).catch(report);
}

/** One plausible value for each property; a `schema` is answered with one that the server listed. */
function argumentsFor({ inputSchema }: Tool, tools: readonly Tool[]): Record<string, unknown> {
  const properties = Object.entries((inputSchema.properties ?? {}) as Record<string, { type?: string }>);
  return Object.fromEntries(
    properties.map(([name, { type }]) => [
      name,
      name === 'schema' ? tools[0]?.inputSchema : type === 'number' || type === 'integer' ? 2 : 'text',
    ]),
  );
}

function report(error: unknown): void {
  process.stderr.write(`${String(error)}\n`);
}
