// `npm run smoke -- URL`: does what a client does, in both eras, through whatever stands in front, and looks at what the
// operator sees. A line for each step; exits with 1 where one fails.
import { parseArgs } from 'node:util';
import * as v2 from '@modelcontextprotocol/client';

const USAGE = `npm run smoke -- URL [--tool NAME [--arguments JSON]] [--token TOKEN] [--admin URL]...

URL is that of /mcp or of one server. Without --tool the first tool that needs no arguments and only reads is called.
--admin names an admin listener, and may be given for each gateway.`;

const INFO = { name: 'portico-smoke', version: '1.0.0' };
const STEP_TIMEOUT_MS = 30_000;
const ERAS = ['modern', 'legacy'] as const;
type Era = (typeof ERAS)[number];

interface Wanted {
  readonly url: string;
  readonly tool: string | undefined;
  readonly arguments: Record<string, unknown>;
  readonly token: string | undefined;
  readonly admins: readonly string[];
}

let failed = 0;
await run(readArguments(process.argv.slice(2)));
process.exitCode = failed === 0 ? 0 : 1;

function readArguments(argv: readonly string[]): Wanted {
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        tool: { type: 'string' },
        arguments: { type: 'string', default: '{}' },
        token: { type: 'string' },
        admin: { type: 'string', multiple: true, default: [] },
      },
    });
    const [url, ...more] = positionals;
    if (url === undefined || more.length > 0) throw new Error('give one URL');
    const { tool, token, admin } = values;
    return { url: new URL(url).href, tool, token, arguments: JSON.parse(values.arguments), admins: admin };
  } catch (thrown) {
    process.stderr.write(`${thrown instanceof Error ? thrown.message : thrown}\n\n${USAGE}\n`);
    process.exit(2);
  }
}

async function run(wanted: Wanted): Promise<void> {
  for (const era of ERAS) await step(`${era} client`, () => useAsClient(era, wanted));
  for (const admin of wanted.admins) await step(`admin listener ${admin}`, () => lookAsOperator(admin));
}

async function step(what: string, act: () => Promise<string>): Promise<void> {
  try {
    process.stdout.write(`ok      ${what}: ${await act()}\n`);
  } catch (thrown) {
    failed += 1;
    process.stdout.write(`FAILED  ${what}: ${thrown instanceof Error ? thrown.message : thrown}\n`);
  }
}

async function useAsClient(era: Era, wanted: Wanted): Promise<string> {
  const timeout = { timeout: STEP_TIMEOUT_MS };
  const client = new v2.Client(INFO, {
    versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' },
  });
  const headers = wanted.token === undefined ? {} : { authorization: `Bearer ${wanted.token}` };
  const transport = new v2.StreamableHTTPClientTransport(new URL(wanted.url), { requestInit: { headers } });
  await client.connect(transport, timeout);
  try {
    const { tools } = await client.listTools({}, timeout);
    const name = wanted.tool ?? tools.find(isHarmless)?.name;
    if (name === undefined) return `${tools.length} tools, of which none may be tried; name one with --tool`;
    if (!tools.some((tool) => tool.name === name))
      throw new Error(`no tool ${JSON.stringify(name)} is listed`);
    const result = await client.callTool({ name, arguments: wanted.arguments }, timeout);
    if (result.isError === true)
      throw new Error(`the tool ${name} failed: ${JSON.stringify(result.content)}`);
    return `${tools.length} tools, ${name} answers`;
  } finally {
    if (era === 'legacy') await transport.terminateSession();
    await client.close();
  }
}

function isHarmless({ annotations, inputSchema }: v2.Tool): boolean {
  return annotations?.readOnlyHint === true && (inputSchema.required ?? []).length === 0;
}

async function lookAsOperator(admin: string): Promise<string> {
  const get = async (path: string) => {
    const answer = await fetch(new URL(path, admin), { signal: AbortSignal.timeout(STEP_TIMEOUT_MS) });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path} answers ${answer.status}`);
    return text;
  };
  await get('/livez');
  await get('/readyz');
  const metrics = await get('/metrics');
  const value = (name: string) => new RegExp(`^${name} (\\S+)$`, 'm').exec(metrics)?.[1];
  if (value('portico_store_available') !== '1')
    throw new Error('the store that replicas share does not answer');
  return `live and ready, ${value('portico_replicas')} replicas, ${value('portico_sessions')} sessions`;
}
