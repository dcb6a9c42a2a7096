// Files that are no tree of keys and values, and keys that nobody knows.
import { gateway, server, testBadConfigs } from './bad-config.ts';

const SOUND = 'mcpServers: { a: { url: "http://127.0.0.1:1" } }\n';

testBadConfigs('a file that cannot be read says where', [
  { name: 'empty', text: '▸', problems: ': expected keys and values', hint: 'Begin with mcpServers.' },
  { name: 'comments alone', text: '▸# nothing\n\n', problems: ': expected keys and values' },
  { name: 'a text', text: '▸hello', problems: ': expected keys and values' },
  { name: 'a list', text: '▸- a\n- b\n', problems: ': expected keys and values' },
  { name: 'an open brace', text: 'mcpServers: {\n  a: { command: x }\n▸', problems: ': this is not YAML' },
  { name: 'an open brace in JSON', text: '{\n "mcpServers": {\n}\n▸', problems: ': this is not JSON' },
  {
    name: 'tabs that indent',
    text: 'mcpServers:\n▸\ta:\n▸\t\tcommand: x\n',
    problems: [': a tab indents this line', ': a tab indents this line'],
    hint: 'Indent with spaces.',
  },
  { name: 'a second document', text: `${SOUND}▸---\n${SOUND}`, problems: ': a second document begins here' },
  { name: 'a list for a key', text: '? ▸[a]\n: 1\n', problems: ': this key is not a word' },
  {
    name: 'a placeholder without quotes in braces',
    text: `mcpServers:\n  a: { url: "http://x", headers: { K: $▸{X} } }\n`,
    problems: ': this is not YAML',
    hint: 'may need quotes',
  },
  {
    name: 'a key twice, and another mistake further on',
    text: 'mcpServers:\n  a: { command: x }\n  ▸a: { command: y, ▸commend: z }\n',
    problems: [': this key is already given above', 'mcpServers.a.commend: there is no key "commend" here'],
  },
  {
    name: 'a key twice in JSON',
    text: '{\n  "mcpServers": {},\n  ▸"mcpServers": {}\n}',
    problems: ': this key is already given above',
  },
  {
    name: 'tags',
    text: 'mcpServers:\n  a: ▸!secret { command: x }\n  b: { command: ▸!!binary eA== }\n',
    problems: [': tags (!name) have no meaning here', ': tags (!name) have no meaning here'],
  },
  {
    name: 'an alias of nothing',
    text: 'mcpServers:\n  a: ▸*b\n',
    problems: ': there is no anchor &b before',
  },
  { name: 'an alias of itself', text: 'mcpServers: &a\n  b: ▸*a\n', problems: ': the file unfolds to more' },
  {
    name: 'aliases that unfold to millions (a bomb)',
    text: bomb(9, 7),
    problems: ': the file unfolds to more than a config can hold',
  },
  {
    name: 'brackets without end',
    text: `▸a: ${'['.repeat(50_000)}`,
    problems: ': the file unfolds',
  },
]);

testBadConfigs('an unknown key is an error that names the nearest known one', [
  { name: 'no servers', text: '▸gateway: {}\n', problems: ': "mcpServers" is missing here' },
  {
    name: 'misspelt at the top',
    text: '▸▸mcpServer: {}\n',
    problems: [': "mcpServers" is missing here', 'mcpServer: there is no key "mcpServer" here'],
    hint: 'Did you mean mcpServers?',
  },
  {
    name: 'misspelt at a server',
    text: server('▸{ ▸comand: x }'),
    problems: [
      'mcpServers.a: this server has neither a command',
      'mcpServers.a.comand: there is no key "comand"',
    ],
    hint: 'Did you mean command?',
  },
  {
    name: 'misspelt at the gateway',
    text: gateway('{ ▸public_url: "http://x" }'),
    problems: 'gateway.public_url: there is no key "public_url" here',
    hint: 'Did you mean publicUrl?',
  },
  {
    name: 'misspelt within a choice',
    text: gateway('{ admin: { ▸prot: 1 } }'),
    problems: 'gateway.admin.prot: there is no key "prot" here',
    hint: 'Did you mean port?',
  },
  {
    name: 'in the wrong place',
    text: `${SOUND}▸listen: { port: 1 }\n`,
    problems: 'listen: there is no key "listen" here',
    hint: 'It belongs at gateway.listen.',
  },
  {
    name: 'a merge key',
    text: 'mcpServers:\n  a: &a { url: "http://x" }\n  ▸b:\n    ▸<<: *a\n',
    problems: ['mcpServers.b: this server has neither', 'mcpServers.b["<<"]: there is no key "<<" here'],
    hint: 'YAML 1.2 has no merge keys',
  },
  {
    name: 'a name that every object has',
    text: `${SOUND}▸constructor: 1\n▸__proto__: 2\n`,
    problems: ['constructor: there is no key "constructor"', '__proto__: there is no key "__proto__"'],
  },
  {
    name: 'both words for servers',
    text: `${SOUND}▸servers: {}\n`,
    problems: 'servers: there is no key "servers" here',
    hint: 'Did you mean mcpServers?',
  },
]);

/** Each level holds `width` aliases of the one below. */
function bomb(width: number, levels: number): string {
  const lines = [`l0: &l0 [${'x, '.repeat(width)}]`];
  for (let level = 1; level < levels; level += 1) {
    lines.push(`l${level}: &l${level} [${`*l${level - 1}, `.repeat(width)}]`);
  }
  return lines.join('\n').replace('[*l4', '[▸*l4');
}
