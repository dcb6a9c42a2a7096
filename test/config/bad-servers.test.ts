// Entries of `mcpServers` whose keys do not go together.
import { remote, server, testBadConfigs } from './bad-config.ts';

testBadConfigs('a server that cannot be reached as configured is refused', [
  {
    name: 'neither command nor url',
    text: server('▸{}'),
    problems: 'mcpServers.a: this server has neither a command nor a url',
  },
  {
    name: 'command and url',
    text: server('▸{ command: node, url: "http://x" }'),
    problems: 'mcpServers.a: this server has a command and a url',
  },
  {
    name: 'type stdio with a url',
    text: server('▸{ type: stdio, url: "http://x" }'),
    problems: 'mcpServers.a: type is stdio, but there is a url',
  },
  {
    name: 'type http with a command',
    text: server('▸{ type: http, command: node }'),
    problems: 'mcpServers.a: type is http, but there is a command',
  },
  {
    name: 'a type that is none',
    text: server('{ type: ▸websocket, url: "http://x" }'),
    problems: 'mcpServers.a.type: expected stdio, http or sse',
  },
  {
    name: 'keys of a program at a url',
    text: remote('▸args: [a], env: {}, ▸cwd: .'),
    problems: [
      'mcpServers.a.args: args means nothing for a server with a url',
      'mcpServers.a.cwd: cwd means nothing',
    ],
  },
  {
    name: 'keys of a url at a program',
    text: server('{ command: node, ▸headers: { A: b } }'),
    problems: 'mcpServers.a.headers: headers means nothing for a server with a command',
  },
  {
    name: 'a url that is none',
    text: server('{ url: ▸"http://[x" }'),
    problems: 'mcpServers.a.url: this is not a URL',
  },
  {
    name: 'a url with a fragment',
    text: server('{ url: ▸"http://x/#y" }'),
    problems: 'mcpServers.a.url: expected an http:// or https:// URL without a fragment',
  },
  {
    name: 'credentials twice',
    text: server('{ url: ▸"http://u:p@x", headers: { authorization: z } }'),
    problems: 'mcpServers.a.url: the url holds credentials and there is an Authorization header',
  },
  {
    name: 'credentials that are not percent-encoded',
    text: server('{ url: ▸"http://u:%zz@x" }'),
    problems: 'mcpServers.a.url: the user or password in the url is not percent-encoded',
  },
  {
    name: 'a call longer than the longest call',
    text: remote('callTimeout: ▸20m'),
    problems: 'mcpServers.a.callTimeout: callTimeout is longer than maxCallTime',
  },
  {
    name: 'a modern server over the transport that its revision dropped',
    text: remote('type: sse, protocol: ▸modern'),
    problems: 'mcpServers.a.protocol: modern servers have no HTTP+SSE transport',
  },
  {
    name: 'F08 a folder that is not there',
    text: server('{ command: node, cwd: ▸nowhere }'),
    problems: 'mcpServers.a.cwd: there is no such folder',
  },
  {
    name: 'a folder that is a file',
    text: server('{ command: node, cwd: ▸f }'),
    files: { f: '' },
    problems: 'mcpServers.a.cwd: there is no such folder',
  },
  {
    name: 'half a client certificate, and no certificate at all',
    text: remote('▸tls: { cert: ▸c.pem }'),
    files: { 'c.pem': 'x' },
    problems: [
      'mcpServers.a.tls: cert and key come together',
      'mcpServers.a.tls.cert: this file is of no use: it holds no PEM block',
    ],
  },
  {
    name: 'authorities that are not there',
    text: remote('tls: { ca: ▸none.pem }'),
    problems: 'mcpServers.a.tls.ca: this file is of no use: there is no such file',
  },
  {
    name: 'names with one slug',
    text: 'mcpServers:\n  My Docs: { url: "http://x" }\n  my.docs: { url: "http://x" }\n  ▸my-docs: { url: "http://x" }\n',
    problems: 'mcpServers.my-docs: the names "My Docs" and "my-docs" both become my-docs in paths',
    hint: 'Rename one.',
  },
  {
    name: 'a variable that cannot be one',
    text: server('{ command: node, env: { ▸"A=B": c } }'),
    problems: 'mcpServers.a.env["A=B"]: this is not the name of an environment variable',
  },
  {
    name: 'a NUL in an argument',
    text: server('{ command: node, args: [▸"a\\0b"] }'),
    problems: 'mcpServers.a.args[0]: the value holds a NUL character',
  },
]);

const PER_LEG = [
  'MCP-Protocol-Version',
  'mcp-method',
  'Mcp-Name',
  'mcp-session-id',
  'MCP-PARAM-region',
  'Last-Event-ID',
];
const PER_MESSAGE = ['Host', 'content-length', 'Transfer-Encoding', 'TE', 'Expect', 'Upgrade'];

testBadConfigs('F33 headers that each leg computes cannot be configured, in any letter case', [
  ...[...PER_LEG, ...PER_MESSAGE].map((header) => ({
    name: header,
    text: remote(`headers: { ▸${header}: x }`),
    problems: `mcpServers.a.headers.${header}: the header ${header.toLowerCase()} is set by Portico itself`,
  })),
]);

testBadConfigs('F52 headers that would carry a caller upstream cannot be configured, in any letter case', [
  ...['Cookie', 'set-cookie', 'Proxy-Authorization', 'PROXY-CONNECTION'].map((header) => ({
    name: header,
    text: remote(`headers: { ▸${header}: x }`),
    problems: `mcpServers.a.headers.${header}: the header ${header.toLowerCase()}`,
  })),
]);

testBadConfigs('a header that HTTP cannot carry is refused', [
  {
    name: 'a name with a space',
    text: remote('headers: { ▸"X Y": z }'),
    problems: 'mcpServers.a.headers["X Y"]: this is not a header name',
  },
  {
    name: 'a value with a line break',
    text: remote('headers: { X: ▸"a\\nY: b" }'),
    problems: 'mcpServers.a.headers.X: a header value holds a line break',
  },
  {
    name: 'a value beyond ASCII',
    text: remote('headers: { X: ▸ü }'),
    problems: 'mcpServers.a.headers.X: a header value holds a line break or a character beyond ASCII',
  },
  {
    name: 'a value with white space around it',
    text: remote('headers: { X: ▸" y" }'),
    problems: 'mcpServers.a.headers.X: a header value begins or ends with white space',
  },
  {
    name: 'one header in two letter cases',
    text: remote('headers: { X-A: b, ▸x-a: c }'),
    problems: 'mcpServers.a.headers.x-a: this header is already given above',
  },
]);
