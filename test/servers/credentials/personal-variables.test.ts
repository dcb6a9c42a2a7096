// Variables of one person's process: each gets that person's own, and no name leads to anybody else's.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { NamePart, PersonalEnv } from '../../../src/config/personal-value.ts';
import type { Caller } from '../../../src/servers/credentials/caller.ts';
import { CredentialFailure } from '../../../src/servers/credentials/credential.ts';
import { IssuerNames } from '../../../src/servers/credentials/issuer-names.ts';
import { personalVariables } from '../../../src/servers/credentials/personal-variables.ts';

const IDP = 'https://idp.example';
const OTHER = 'https://other.example';

const names = (...issuers: string[]) =>
  new IssuerNames({
    issuers: issuers.map((issuer) => ({
      issuer,
      name: issuer === IDP ? 'idp' : 'other',
      audiences: [],
      jwksUri: undefined,
      algorithms: ['ES256'],
      claims: { groups: 'groups', scopes: 'scope' },
      introspection: undefined,
    })),
    apiKeys: [],
  });

function caller(subject: string, issuer = IDP): Caller {
  const key = JSON.stringify([issuer, subject, 'app']);
  const more = { clientId: 'app', scopes: [], groups: [], expiresAtMs: undefined };
  return { key, issuer, subject, ...more, token: () => undefined };
}

const text = (words: string): NamePart => ({ kind: 'text', text: words });
const SUBJECT: NamePart = { kind: 'principal', field: 'subject' };
const ISSUER: NamePart = { kind: 'principal', field: 'issuerName' };

async function secrets(t: TestContext, files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'portico-secrets-')));
  t.after(() => rm(folder, { recursive: true }));
  for (const [path, content] of Object.entries(files)) {
    await mkdir(join(folder, path, '..'), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  return folder;
}

function tokenBelow(folder: string, ...path: NamePart[]): PersonalEnv {
  return { TOKEN: [{ kind: 'file', path: [text(`${folder}/`), ...path] }] };
}

test('two people get their own, from files and from their names', async (t) => {
  const folder = await secrets(t, { 'alice/token': 'of alice\n', 'bob/token': 'of bob' });
  const env = { ...tokenBelow(folder, SUBJECT, text('/token')), WHO: [text('user='), SUBJECT] };
  const of = (subject: string) => personalVariables(env, caller(subject), names(IDP));
  assert.deepEqual(await of('alice'), { TOKEN: 'of alice', WHO: 'user=alice' });
  assert.deepEqual(await of('bob'), { TOKEN: 'of bob', WHO: 'user=bob' });
});

test('equal subjects of two issuers are two people', async (t) => {
  const folder = await secrets(t, { 'idp/alice': 'of the one', 'other/alice': 'of the other' });
  const env = tokenBelow(folder, ISSUER, text('/'), SUBJECT);
  const of = (issuer: string) => personalVariables(env, caller('alice', issuer), names(IDP, OTHER));
  assert.deepEqual(await of(IDP), { TOKEN: 'of the one' });
  assert.deepEqual(await of(OTHER), { TOKEN: 'of the other' });
  await assert.rejects(
    personalVariables(env, caller('alice', 'portico:api-keys'), names(IDP)),
    CredentialFailure,
  );
});

test('a subject that is no plain name is refused, whatever there is in the folder', async (t) => {
  const folder = await secrets(t, { 'below/alice': 'x', outside: 'of nobody', 'below/a b': 'x' });
  const env = tokenBelow(join(folder, 'below'), SUBJECT);
  assert.deepEqual(await personalVariables(env, caller('alice'), names(IDP)), { TOKEN: 'x' });
  const subjects = [
    ...[
      '',
      '.',
      '..',
      '...',
      '../outside',
      '..\\outside',
      '/etc/passwd',
      `${folder}/outside`,
      'a/../../outside',
    ],
    ...[
      'a b',
      'a\0',
      'a\n',
      '$(id)',
      '`id`',
      'a;id',
      "a'b",
      'a"b',
      '*',
      '~',
      'a%2f..',
      'ä',
      'ａｌｉｃｅ',
      'a\u202eb',
    ],
    'a'.repeat(129),
  ];
  for (const subject of subjects) {
    await assert.rejects(personalVariables(env, caller(subject), names(IDP)), CredentialFailure, subject);
    await assert.rejects(
      personalVariables({ WHO: [SUBJECT] }, caller(subject), names(IDP)),
      CredentialFailure,
    );
  }
  for (const subject of ['alice@example.com', 'auth0|5f7c', 'a-b_c.d', 'a'.repeat(128)]) {
    assert.deepEqual(await personalVariables({ WHO: [SUBJECT] }, caller(subject), names(IDP)), {
      WHO: subject,
    });
  }
});

test('a link that leads out of the folder is not followed, one within it is', async (t) => {
  const folder = await secrets(t, { 'below/data/alice': 'of alice', outside: 'of nobody' });
  const below = join(folder, 'below');
  await symlink('data/alice', join(below, 'alice'));
  await symlink(join(folder, 'outside'), join(below, 'bob'));
  await symlink('..', join(below, 'up'));
  const of = (subject: string, ...more: NamePart[]) =>
    personalVariables(tokenBelow(below, SUBJECT, ...more), caller(subject), names(IDP));
  assert.deepEqual(await of('alice'), { TOKEN: 'of alice' });
  await assert.rejects(of('bob'), /leads out of its folder/);
  await assert.rejects(of('up', text('/outside')), /leads out of its folder/);
  await assert.rejects(of('data', text('/../../outside')), /leads out of its folder/);
});

test('a secret that is not there, or is none, is told to the operator by its variable', async (t) => {
  const folder = await secrets(t, {
    'alice/token': 'a\0b',
    'big/token': 'x'.repeat(2 ** 20 + 1),
    'dir/token/x': '',
  });
  const env = tokenBelow(folder, SUBJECT, text('/token'));
  const cases = { nobody: /TOKEN.*no such file/, alice: /NUL/, big: /larger/, dir: /a folder/ };
  for (const [subject, words] of Object.entries(cases)) {
    await assert.rejects(personalVariables(env, caller(subject), names(IDP)), words);
  }
  await assert.rejects(personalVariables(env, undefined, names(IDP)), /nobody calls/);
});
