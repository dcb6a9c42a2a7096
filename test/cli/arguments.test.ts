// The command line: what it asks for, and the one line that says what is wrong with it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Command, parseArguments } from '../../src/cli/arguments.ts';
import { HELP, mistakeLine } from '../../src/cli/help.ts';

const DEFAULT = 'config/portico.yaml';
const serve = (file: string, listen = {}): Command => ({ kind: 'serve', file, listen });
const mistake = (message: string): Command => ({ kind: 'mistake', message });

const TABLE: readonly (readonly [line: string, expected: Command])[] = [
  ['', serve(DEFAULT)],
  ['serve', serve(DEFAULT)],
  ['--config a.yaml', serve('a.yaml')],
  ['serve --config=a.yaml', serve('a.yaml')],
  ['-c a.yaml serve', serve('a.yaml')],
  ['--config a --config b', serve('b')],
  ['--host ::1 --port 0', serve(DEFAULT, { host: '::1', port: 0 })],
  ['--port=65535', serve(DEFAULT, { port: 65_535 })],
  ['check', { kind: 'check', file: DEFAULT }],
  ['check -c mcp.json', { kind: 'check', file: 'mcp.json' }],
  ['doctor --config x', { kind: 'doctor', file: 'x' }],
  [
    'explain --token t',
    { kind: 'explain', file: DEFAULT, from: { kind: 'token', file: 't' }, target: undefined },
  ],
  [
    'explain --claims c.json gh/delete_x -c x',
    { kind: 'explain', file: 'x', from: { kind: 'claims', file: 'c.json' }, target: 'gh/delete_x' },
  ],
  ['audit verify a b', { kind: 'audit verify', files: ['a', 'b'], head: undefined, keyFile: undefined }],
  ['audit verify a --key k --head h', { kind: 'audit verify', files: ['a'], head: 'h', keyFile: 'k' }],
  ['pin', { kind: 'pin', file: DEFAULT, server: undefined, isCheck: false }],
  ['pin --check --server docs -c x', { kind: 'pin', file: 'x', server: 'docs', isCheck: true }],
  ['pin docs', mistake('pin takes no argument docs')],
  ['check --check', mistake('check takes no --check')],
  ['audit', mistake('the only command of audit is audit verify FILE...')],
  ['audit verify', mistake('audit verify needs the files, the oldest first')],
  ['audit verify a --config c', mistake('audit takes no --config')],
  ['--help', { kind: 'help' }],
  ['check -h', { kind: 'help' }],
  ['--version', { kind: 'version' }],
  ['-v serve', { kind: 'version' }],
  ['chek', mistake('there is no command chek; did you mean check?')],
  ['start', mistake('there is no command start')],
  ['serve me', mistake('serve takes no argument me')],
  ['--prot 1', mistake('there is no option --prot; did you mean --port?')],
  ['-x', mistake('there is no option -x')],
  ['--config', mistake('--config needs a value')],
  ['--config=', mistake('--config needs a value')],
  ['--config --port 1', mistake('--config needs a value')],
  ['--help=yes', mistake('--help takes no value')],
  ['--port http', mistake('--port takes a number from 0 to 65535')],
  ['--port 65536', mistake('--port takes a number from 0 to 65535')],
  ['--port -1', mistake('--port needs a value')],
  ['--host http://x', mistake('--host takes a host name or an IP address without brackets')],
  ['check --port 1', mistake('check takes no --port')],
  ['doctor --host x', mistake('doctor takes no --host')],
  ['check --token t', mistake('check takes no --token')],
  ['explain gh', mistake('explain takes one of --token and --claims')],
  ['explain --token t --claims c', mistake('explain takes one of --token and --claims')],
  ['explain --token t a b', mistake('explain takes no argument b')],
  ['explain --token t --port 1', mistake('explain takes no --port')],
];

for (const [line, expected] of TABLE) {
  test(`portico ${line}`, () => {
    assert.deepEqual(parseArguments(line.split(' ').filter(Boolean), {}), expected);
  });
}

test('PORTICO_CONFIG names the file where --config does not', () => {
  assert.deepEqual(parseArguments([], { PORTICO_CONFIG: 'e.yaml' }), serve('e.yaml'));
  assert.deepEqual(parseArguments(['-c', 'a.yaml'], { PORTICO_CONFIG: 'e.yaml' }), serve('a.yaml'));
  assert.deepEqual(parseArguments([], { PORTICO_CONFIG: '' }), serve(DEFAULT));
});

test('help names every command and option, a mistake is one line', () => {
  for (const word of [
    'serve',
    'check',
    'doctor',
    'explain',
    'audit verify',
    'pin',
    '--check',
    '--server',
    '--key',
    '--head',
    '--token',
    '--claims',
    '--config',
    '--host',
    '--port',
    '--version',
    '--help',
  ]) {
    assert.ok(HELP.includes(word), word);
  }
  assert.equal(mistakeLine('there is no option -x'), 'portico: there is no option -x (see portico --help)\n');
});
