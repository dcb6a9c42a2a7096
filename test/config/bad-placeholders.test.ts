// Placeholders that stand for nothing: the variable is named, a value never is.
import { gateway, server, testBadConfigs } from './bad-config.ts';

const command = (placeholder: string) => server(`{ command: ▸"${placeholder}" }`);

testBadConfigs('F59 a placeholder that stands for nothing is named', [
  {
    name: 'a variable that is not set',
    text: command(`\${NOPE}`),
    problems: 'mcpServers.a.command: the environment variable NOPE is not set',
    hint: `Set it, or give a default: \${NOPE:-...}.`,
  },
  {
    name: 'a name that every object has',
    text: command(`\${constructor}`),
    problems: 'mcpServers.a.command: the environment variable constructor is not set',
  },
  {
    name: 'several in one value',
    text: server(`{ command: node, args: [▸▸"\${ONE}-\${env:TWO}"] }`),
    problems: [
      'mcpServers.a.args[0]: the environment variable ONE is not set',
      'mcpServers.a.args[0]: the environment variable TWO is not set',
    ],
  },
  {
    name: 'one where a number is due is no second mistake',
    text: gateway(`{ listen: { port: ▸"\${NOPE}" } }`),
    problems: 'gateway.listen.port: the environment variable NOPE is not set',
  },
  {
    name: 'a file that is not there',
    text: command(`\${file:/no/such}`),
    problems: 'mcpServers.a.command: the file of this placeholder, /no/such: there is no such file',
  },
  {
    name: 'a folder for a file',
    text: command(`\${file:.}`),
    problems: 'mcpServers.a.command: the file of this placeholder, .: it is a folder',
  },
  {
    name: 'a device for a file',
    text: command(`\${file:/dev/zero}`),
    problems: 'mcpServers.a.command: the file of this placeholder, /dev/zero: it is not a regular file',
  },
  {
    name: 'a file beyond reason',
    text: command(`\${file:big}`),
    files: { big: 'x'.repeat(2 ** 20 + 1) },
    problems: 'mcpServers.a.command: the file of this placeholder, big: it is larger than 1mb',
  },
  {
    name: 'not closed',
    text: command(`\${X`),
    problems: 'mcpServers.a.command: a placeholder is not closed',
    hint: 'write $$ for a dollar',
  },
  {
    name: 'nested',
    text: command(`\${A:-\${B}}`),
    problems: 'mcpServers.a.command: placeholders do not nest',
  },
  {
    name: 'empty',
    text: command(`\${}`),
    problems: 'mcpServers.a.command: this placeholder is not understood',
  },
  {
    name: 'of an unknown kind',
    text: command(`\${command:pick}`),
    problems: 'mcpServers.a.command: this placeholder is not understood',
  },
  {
    name: 'with a dash alone',
    text: command(`\${A-b}`),
    problems: 'mcpServers.a.command: this placeholder is not understood',
  },
  {
    name: "an editor's own",
    text: command(`\${workspaceFolder}/x`),
    problems: 'mcpServers.a.command: the environment variable workspaceFolder is not set',
    hint: 'Editors fill it in by themselves',
  },
  {
    name: 'an input of VS Code',
    text: server(`{ command: node, env: { K: ▸"\${input:api-key}" } }`),
    problems: 'mcpServers.a.env.K: nobody can be asked for the input api-key here',
    hint: 'Set the environment variable API_KEY.',
  },
  {
    name: 'a variable that holds no number',
    text: gateway(`{ listen: { port: ▸"\${P}" } }`),
    env: { P: 'eighty' },
    problems: 'gateway.listen.port: expected a whole number, found text',
  },
  {
    name: 'a variable that brings a bad value',
    text: gateway(`{ publicUrl: ▸"\${URL}" }`),
    env: { URL: 'https://x/' },
    problems: 'gateway.publicUrl: publicUrl ends in a slash',
  },
]);
