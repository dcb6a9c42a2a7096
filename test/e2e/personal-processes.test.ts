// A stdio server whose every process has the secrets of one person.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { PersonalEnv } from '../../src/config/personal-value.ts';
import { issuerWith, tokenOf } from '../support/credentials-rig.ts';
import { ModernClient, openSession } from '../support/raw-session.ts';
import { startGateway } from '../support/start-gateway.ts';
import { signingKey } from '../support/token-issuer.ts';

interface Environment {
  readonly env: Readonly<Record<string, string>>;
  readonly pid: number;
}

async function startSetup(t: TestContext, era: 'modern' | 'legacy', isolation: 'principal' | 'session') {
  const folder = await mkdtemp(join(tmpdir(), 'portico-secrets-'));
  t.after(() => rm(folder, { recursive: true }));
  for (const person of ['alice', 'bob']) {
    await mkdir(join(folder, person));
    await writeFile(join(folder, person, 'token'), `secret-of-${person}\n`);
  }
  const personalEnv: PersonalEnv = {
    TOKEN: [
      {
        kind: 'file',
        path: [
          { kind: 'text', text: `${folder}/` },
          { kind: 'principal', field: 'subject' },
          { kind: 'text', text: '/token' },
        ],
      },
    ],
  };
  const key = signingKey('ES256', 'idp');
  const issuer = await issuerWith(t, key);
  const gateway = await startGateway({
    stdio: { switches: [`--era=${era}`], isolation, personalEnv },
    gateway: { auth: { issuers: [issuer.config()], apiKeys: [], scopesSupported: [], requiredScopes: [] } },
    secrets: ['secret-of-alice', 'secret-of-bob'],
  });
  t.after(() => gateway.close());
  const bearer = (subject: string) => ({
    headers: { authorization: `Bearer ${tokenOf(issuer, key, subject)}` },
  });
  return { gateway, bearer };
}

for (const [era, isolation] of [
  ['modern', 'principal'],
  ['legacy', 'session'],
] as const) {
  test(`two people see two secrets, in homes of their own (${era} server, ${isolation})`, async (t) => {
    const { gateway, bearer } = await startSetup(t, era, isolation);
    assert.deepEqual(gateway.children(), [], 'nobody has called yet');
    const seen: Environment[] = [];
    for (const person of ['alice', 'bob']) {
      await using client = new ModernClient(gateway.url, bearer(person));
      await using session = await openSession(gateway.url, bearer(person));
      for (const caller of [client, session]) {
        const environment = JSON.parse(await caller.tool('environment')) as Environment;
        assert.equal(environment.env.TOKEN, `secret-of-${person}`);
        for (const name of ['HOME', 'TMPDIR']) {
          const { mode } = await stat(environment.env[name] ?? '');
          assert.equal(mode & 0o777, 0o700, name);
        }
        seen.push(environment);
      }
    }
    const homes = (of: readonly Environment[]) => of.map(({ env }) => env.HOME);
    const [alice, bob] = [seen.slice(0, 2), seen.slice(2)];
    assert.ok(!homes(alice).some((home) => homes(bob).includes(home)));
    assert.notEqual(alice[0]?.pid, bob[0]?.pid);
  });
}

test('who has no secret, or no name that is fit for a path, gets 5021 and no process', async (t) => {
  const { gateway, bearer } = await startSetup(t, 'modern', 'principal');
  for (const subject of ['carol', '../bob', '/etc', '..', 'bob;id']) {
    await using client = new ModernClient(gateway.url, bearer(subject));
    const { error } = await client.ask('tools/call', { name: 'environment', arguments: {} });
    assert.equal(error?.code, 5021, subject);
    assert.ok(!JSON.stringify(error).includes('secrets'));
  }
  assert.deepEqual(gateway.children(), []);
  const line = await gateway.logged(({ msg }) => msg === 'could not sign in to a server');
  assert.deepEqual([line.auth, line.reason], ['env', 'variable']);
});
