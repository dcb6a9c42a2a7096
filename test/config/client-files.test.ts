// The files of MCP clients, as they write them, served unmodified.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServerConfig } from '../../src/config/config.ts';
import { loadedConfig, loadText, problemTexts } from './written-config.ts';

interface ClientFile {
  readonly client: string;
  readonly text: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly servers: readonly (readonly [slug: string, type: ServerConfig['type'], target: string])[];
  /** The keys of the one warning, in its order. */
  readonly ignored?: string;
}

const FILES: readonly ClientFile[] = [
  {
    client: 'Claude Desktop',
    text: `{
  "globalShortcut": "Ctrl+Space",
  "mcpServers": {
    "filesystem": {
      "command": "node",
      "args": ["server.js", "/Users/ada/Desktop"],
      "env": { "LOG_LEVEL": "info" }
    }
  }
}`,
    servers: [['filesystem', 'stdio', 'node']],
    ignored: 'globalShortcut',
  },
  {
    client: 'Claude Code',
    text: `{
  "mcpServers": {
    "github": {
      "type": "http",
      "url": "https://api.example.com/mcp",
      "headers": { "Authorization": "Bearer \${GITHUB_TOKEN}" },
      "oauth": { "callbackPort": 8080 }
    },
    "local tool": { "type": "stdio", "command": "node", "args": ["\${TOOL:-tool.js}"], "env": {} },
    "old": { "type": "sse", "url": "https://old.example.com/sse" }
  }
}`,
    env: { GITHUB_TOKEN: 'ghp_secret' },
    servers: [
      ['github', 'http', 'https://api.example.com/mcp'],
      ['local-tool', 'stdio', 'node'],
      ['old', 'sse', 'https://old.example.com/sse'],
    ],
    ignored: 'oauth',
  },
  {
    client: 'VS Code',
    text: `{
	// Asked for once.
	"inputs": [
		{ "type": "promptString", "id": "perplexity-key", "description": "Key", "password": true },
	],
	"servers": {
		/* a comment that spans
		   two lines */
		"Perplexity": {
			"type": "stdio",
			"command": "node",
			"args": ["-y", "server-perplexity"],
			"env": { "PERPLEXITY_API_KEY": "\${input:perplexity-key}", "HOME_PAGE": "https://x//y" },
			"dev": { "watch": "src/**/*.ts" }, // trailing
		},
		"fetch": { "type": "http", "url": "https://fetch.example.com/mcp", "gallery": true, "version": "1.0.0" },
	},
}
`,
    env: { PERPLEXITY_KEY: 'pplx' },
    servers: [
      ['perplexity', 'stdio', 'node'],
      ['fetch', 'http', 'https://fetch.example.com/mcp'],
    ],
    ignored: 'inputs, dev, gallery, version',
  },
  {
    client: 'Cursor',
    text: `{
  "mcpServers": {
    "server-name": { "command": "node", "args": ["-y", "mcp-server"], "env": { "API_KEY": "\${env:CURSOR_KEY}" }, "envFile": ".env" },
    "remote": { "url": "http://localhost:3000/mcp", "headers": { "API_KEY": "value" } }
  }
}`,
    env: { CURSOR_KEY: 'k' },
    servers: [
      ['server-name', 'stdio', 'node'],
      ['remote', 'http', 'http://localhost:3000/mcp'],
    ],
    ignored: 'envFile',
  },
  {
    client: 'Windsurf',
    text: `{
  "mcpServers": {
    "remote-http": {
      "serverUrl": "https://w.example.com/mcp",
      "headers": { "Content-Type": "application/json", "Authorization": "Bearer \${env:TOKEN}" },
      "disabledTools": ["drop_table"]
    }
  }
}`,
    env: { TOKEN: 'tttt' },
    servers: [['remote-http', 'http', 'https://w.example.com/mcp']],
    ignored: 'disabledTools, Content-Type',
  },
  {
    client: 'Cline',
    text: `{
  "mcpServers": {
    "local-server": { "command": "node", "args": ["/path/to/server.js"], "env": { "API_KEY": "your_api_key" }, "autoApprove": ["tool1"], "disabled": false, "timeout": 60 },
    "remote": { "type": "streamableHttp", "url": "https://c.example.com/mcp", "headers": {}, "disabled": true, "autoApprove": [] }
  }
}`,
    servers: [['local-server', 'stdio', 'node']],
    ignored: 'autoApprove, timeout',
  },
  {
    client: 'Roo Code',
    text: `{
  "mcpServers": {
    "r": { "type": "streamable-http", "url": "https://r.example.com/mcp", "alwaysAllow": ["a"], "disabled": false, "watchPaths": ["x.js"] }
  }
}`,
    servers: [['r', 'http', 'https://r.example.com/mcp']],
    ignored: 'alwaysAllow, watchPaths',
  },
  {
    client: 'Gemini CLI',
    text: `{
  "mcpServers": {
    "g": { "httpUrl": "https://g.example.com/mcp", "timeout": 30000, "trust": false, "includeTools": ["x"], "excludeTools": ["y"] }
  }
}`,
    servers: [['g', 'http', 'https://g.example.com/mcp']],
    ignored: 'timeout, trust, includeTools, excludeTools',
  },
  {
    client: 'FastMCP',
    text: `{ "mcpServers": { "f": { "transport": "streamable-http", "url": "https://f.example.com/mcp" }, "g": { "transport": "stdio", "command": "node" } } }`,
    servers: [
      ['f', 'http', 'https://f.example.com/mcp'],
      ['g', 'stdio', 'node'],
    ],
  },
  {
    client: 'YAML of the same',
    text: 'servers:\n  My Server:\n    type: http\n    transport: streamable-http\n    url: https://y.example.com/mcp\n    enabled: true\n',
    servers: [['my-server', 'http', 'https://y.example.com/mcp']],
  },
];

for (const { client, text, env = {}, servers, ignored } of FILES) {
  test(`a file of ${client} is served as it is`, async (t) => {
    const loaded = await loadedConfig(t, text, { env: { ...env, PATH: process.env.PATH }, name: 'mcp.json' });
    const found = loaded.config.servers.map((server) => [
      server.slug,
      server.type,
      server.type === 'stdio' ? server.command : server.url,
    ]);
    assert.deepEqual(found, servers);
    const warnings = problemTexts(loaded).filter((warning) => warning.includes('of use to clients alone'));
    assert.equal(warnings.length, ignored === undefined ? 0 : 1, 'one warning at most');
    if (ignored !== undefined) assert.match(warnings[0] ?? '', new RegExp(`clients alone: ${ignored}\\.`));
  });
}

test('what a client fills in by itself reaches the server from the environment', async (t) => {
  const vsCode = FILES.find(({ client }) => client === 'VS Code');
  const { config } = await loadedConfig(t, vsCode?.text ?? '', { env: vsCode?.env ?? {} });
  assert.ok(config.servers[0]?.type === 'stdio');
  assert.deepEqual(config.servers[0].env, { PERPLEXITY_API_KEY: 'pplx', HOME_PAGE: 'https://x//y' });
});

test('headers that every transport sets are left out, others kept', async (t) => {
  const text = '{"mcpServers":{"a":{"url":"http://x","headers":{"ACCEPT":"*/*","X-Key":"k"}}}}';
  const { config } = await loadedConfig(t, text);
  assert.ok(config.servers[0]?.type === 'http');
  assert.deepEqual(config.servers[0].headers, { 'X-Key': 'k' });
});

test('a warning says that tools which a client hid are served', async (t) => {
  const text = '{"servers":{"a":{"url":"http://x","disabledTools":["rm"],"envFile":".env"}}}';
  const [warning] = problemTexts(await loadText(t, text));
  assert.match(
    warning ?? '',
    /^1:35 servers\.a\.disabledTools: .*Tools that disabledTools would hide are served here\./,
  );
  assert.match(warning ?? '', /Variables of an envFile are not read/);
});

test('any other key of a client is an error, in the words of its file', async (t) => {
  const text =
    '{\n  "servers": {\n    "a": { "url": "http://x", "transport": "sse", "type": "http", "colour": 1 }\n  }\n}';
  const loaded = await loadText(t, text);
  assert.deepEqual(
    problemTexts(loaded).map((problem) => problem.split(' here')[0]),
    [
      '3:31 servers.a.transport: there is no key "transport"',
      '3:67 servers.a.colour: there is no key "colour"',
    ],
  );
});
