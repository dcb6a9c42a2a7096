// Values of the wrong kind.
import { gateway, remote, server, testBadConfigs } from './bad-config.ts';

testBadConfigs('a value of the wrong kind says what is expected', [
  {
    name: 'a duration without a unit',
    text: remote('callTimeout: ▸30'),
    problems:
      'mcpServers.a.callTimeout: expected a duration such as 250ms, 30s, 5m or 1h, above zero, found a number',
    hint: 'Add the unit.',
  },
  {
    name: 'a duration in days',
    text: gateway('{ sessions: { maxAge: ▸1d } }'),
    problems: 'gateway.sessions.maxAge: expected a duration',
  },
  {
    name: 'a duration of nothing, where that means nothing',
    text: remote('startTimeout: ▸0s'),
    problems: 'mcpServers.a.startTimeout: expected a duration',
  },
  {
    name: 'a duration below zero',
    text: gateway('{ drain: { delay: ▸-1s } }'),
    problems: 'gateway.drain.delay: expected a duration',
  },
  {
    name: 'a duration beyond what timers can wait',
    text: gateway('{ drain: { grace: ▸577h } }'),
    problems: 'gateway.drain.grace: expected at most 576h',
  },
  {
    name: 'a size without a unit',
    text: gateway('{ bodyLimit: ▸4096 }'),
    problems: 'gateway.bodyLimit: expected a size such as 512kb, 4mb or 1gb, above zero, found a number',
    hint: 'Add the unit.',
  },
  {
    name: 'a size in KiB',
    text: gateway('{ bodyLimit: ▸4KiB }'),
    problems: 'gateway.bodyLimit: expected a size',
  },
  {
    name: 'a body beyond any string',
    text: gateway('{ bodyLimit: ▸600mb, maxBuffered: 1gb }'),
    problems: 'gateway.bodyLimit: no body can be longer than 511mb',
  },
  {
    name: 'a message beyond any string',
    text: remote('maxMessage: ▸1gb'),
    problems: 'mcpServers.a.maxMessage: no message can be longer than 511mb',
  },
  {
    name: 'a port out of range',
    text: gateway('{ listen: { port: ▸70000 } }'),
    problems: 'gateway.listen.port: expected at most 65535',
  },
  {
    name: 'a port in quotes',
    text: gateway('{ listen: { port: ▸"8080" } }'),
    problems: 'gateway.listen.port: expected a whole number, found text',
  },
  {
    name: 'a fraction of a link',
    text: remote('maxLinks: ▸1.5'),
    problems: 'mcpServers.a.maxLinks: expected a whole number, found a number',
  },
  { name: 'no link', text: remote('maxLinks: ▸0'), problems: 'mcpServers.a.maxLinks: expected at least 1' },
  {
    name: 'infinity',
    text: remote('maxLinks: ▸.inf'),
    problems: 'mcpServers.a.maxLinks: expected a whole number, found a number',
  },
  {
    name: 'the truth of YAML 1.1',
    text: gateway('{ insecure: ▸yes }'),
    problems: 'gateway.insecure: expected true or false, found text',
  },
  {
    name: 'a word near a known one',
    text: remote('protocol: ▸moden'),
    problems: 'mcpServers.a.protocol: expected auto, modern or legacy',
    hint: 'Did you mean modern?',
  },
  {
    name: 'lists and sections where texts are due',
    text: server('{ command: node, args: [▸[a]], env: { A: ▸{} } }'),
    problems: [
      'mcpServers.a.args[0]: expected text, found a list',
      'mcpServers.a.env.A: expected text, found a section',
    ],
  },
  {
    name: 'a number where a text is due that is not free',
    text: server('{ command: ▸7 }'),
    problems: 'mcpServers.a.command: expected text, found a number',
    hint: 'Put quotes around it.',
  },
  {
    name: 'an empty variable',
    text: server('{ command: node, env: { A: ▸} }'),
    problems: 'mcpServers.a.env.A: expected text, found nothing',
  },
  {
    name: 'an empty command',
    text: server('{ command: ▸"" }'),
    problems: 'mcpServers.a.command: expected text that is not empty',
  },
  {
    name: 'a word for a server',
    text: server('npx').replace('npx', '▸npx'),
    problems: 'mcpServers.a: expected a section with keys of its own, found text',
  },
  {
    name: 'a word for the admin listener',
    text: gateway('{ admin: ▸on }'),
    problems: 'gateway.admin: expected false, or a section with host and port',
  },
  {
    name: 'an admin token with a space',
    text: gateway('{ admin: { token: ▸"a b" } }'),
    problems: 'gateway.admin.token: expected visible ASCII characters',
  },
  {
    name: 'an unknown policy for roots',
    text: remote('client: { roots: ▸alow }'),
    problems: 'mcpServers.a.client.roots: expected allow or deny',
    hint: 'Did you mean allow?',
  },
  {
    name: 'a root that is no file',
    text: remote('client: { roots: [{ uri: ▸"http://x" }] }'),
    problems: 'mcpServers.a.client.roots[0].uri: expected a file:// URI',
  },
  {
    name: 'a certificate without its key',
    text: gateway('{ listen: { ▸tls: { cert: c.pem } } }'),
    problems: 'gateway.listen.tls: "key" is missing here',
  },
  {
    name: 'several at once, each in its place',
    text: `mcpServers:\n  a: { url: ▸ftp://x, queue: { ▸mx: 1 } }\n  b: ▸[]\ngateway:\n  log: { level: ▸inf }\n  hosts: ▸x\n`,
    problems: [
      'mcpServers.a.url: expected an http:// or https:// URL',
      'mcpServers.a.queue.mx: there is no key "mx" here',
      'mcpServers.b: expected a section',
      'gateway.log.level: expected trace, debug, info, warn, error or silent',
      'gateway.hosts: expected a list, found text',
    ],
    hint: 'Did you mean info?',
  },
]);
