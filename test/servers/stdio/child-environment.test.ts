import assert from 'node:assert/strict';
import { test } from 'node:test';
import { childEnvironment } from '../../../src/servers/stdio/child-environment.ts';

const OURS = {
  PATH: '/usr/bin',
  HOME: '/home/us',
  LANG: 'C.UTF-8',
  LC_ALL: 'C',
  TZ: 'UTC',
  TMPDIR: '/tmp',
  AUDIT_KEY: 'secret',
  NODE_OPTIONS: '--inspect',
  HTTPS_PROXY: 'http://user:secret@proxy',
  npm_config_token: 'secret',
  SHELL: '() { :; }; echo pwned',
  TERM: undefined,
};

test('F59: a child sees what it is given and what programs need, nothing else of ours', () => {
  assert.deepEqual(childEnvironment({ API_KEY: 'declared' }, {}, OURS), {
    PATH: '/usr/bin',
    HOME: '/home/us',
    LANG: 'C.UTF-8',
    LC_ALL: 'C',
    TZ: 'UTC',
    TMPDIR: '/tmp',
    API_KEY: 'declared',
  });
});

test('what is declared wins, be it empty', () => {
  assert.deepEqual(
    childEnvironment(
      { PATH: '/opt/bin', HOME: '' },
      { HOME: '/own' },
      { PATH: '/usr/bin', HOME: '/home/us' },
    ),
    {
      PATH: '/opt/bin',
      HOME: '',
    },
  );
});

test('a home of its own stands over ours', () => {
  assert.deepEqual(childEnvironment({}, { HOME: '/own' }, { HOME: '/home/us' }), { HOME: '/own' });
});
