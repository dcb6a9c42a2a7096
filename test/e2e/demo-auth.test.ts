// `npm run demo:auth` as a person uses it, the browser left out: what it prints is enough to sign in, each of the two
// sees tools of their own, and nothing is left when it ends.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { freePort } from '../support/free-port.ts';
import { OAuthClient } from '../support/oauth-client.ts';
import { descendantsOf, stillAlive } from '../support/process-tree.ts';
import { browse } from '../support/scripted-sign-in.ts';

const RUN = fileURLToPath(new URL('../demo-auth/run.ts', import.meta.url));
const BOBS_TOOLS = ['echo', 'get-structured-content', 'get-sum'];

interface Demo {
  readonly issuer: string;
  readonly url: string;
  /** By name, as printed. */
  readonly passwords: Readonly<Record<string, string>>;
  /** Ends it as Ctrl+C does. */
  stop(): Promise<void>;
}

async function startDemo(t: TestContext, ...args: readonly string[]): Promise<Demo> {
  const ports = ['--port', `${await freePort()}`, '--issuer-port', `${await freePort()}`];
  const child = spawn(process.execPath, [RUN, ...ports, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const errors = text(child.stderr);
  const exited = once(child, 'exit');
  let stopping: Promise<void> | undefined;
  const end = async () => {
    const children = descendantsOf(child.pid ?? 0);
    child.kill('SIGINT');
    assert.deepEqual(await exited, [0, null]);
    assert.deepEqual(stillAlive(children), []);
    assert.equal(await errors, '');
  };
  const stop = () => {
    stopping ??= end();
    return stopping;
  };
  t.after(stop);
  let printed = '';
  let block: string | undefined;
  const output = child.stdout.setEncoding('utf8');
  for await (const chunk of output.iterator({ destroyOnReturn: false })) {
    printed += chunk;
    block = /^\{$.*?^\}$/ms.exec(printed)?.[0];
    if (block !== undefined) break;
  }
  output.resume();
  assert.ok(block !== undefined, printed);
  const { mcpServers } = JSON.parse(block) as { mcpServers: { portico: { url: string } } };
  return {
    issuer: /Sign-in is at\s+(\S+)/.exec(printed)?.[1] ?? '',
    url: mcpServers.portico.url,
    passwords: Object.fromEntries(
      [...printed.matchAll(/^(ada|bob) +(\S+)/gm)].map(([, name = '', password = '']) => [name, password]),
    ),
    stop,
  };
}

async function signIn({ issuer, url, passwords }: Demo, mode: 'legacy' | 'modern', name: string) {
  const client = new OAuthClient({ url, mode });
  const address = await client.connect();
  assert.ok(address !== undefined);
  await assert.rejects(browse({ issuer }, address.href, name, 'a guess'), /not this password/);
  const callback = await browse({ issuer }, address.href, name, passwords[name]);
  await client.finish(callback.searchParams);
  assert.equal(await client.connect(), undefined);
  return client;
}

for (const [format, ...args] of [['JWTs'], ['opaque tokens', '--opaque']] as const) {
  test(`the demo with ${format}: two people sign in, and each sees tools of their own`, async (t) => {
    const demo = await startDemo(t, ...args);
    for (const mode of ['legacy', 'modern'] as const) {
      await using ada = await signIn(demo, mode, 'ada');
      await using bob = await signIn(demo, mode, 'bob');
      assert.equal(ada.keychain.saved?.access_token.includes('.'), format === 'JWTs');
      const adas = await ada.tools();
      assert.ok(adas.includes('get-env') && adas.length > BOBS_TOOLS.length, adas.join());
      assert.deepEqual(await bob.tools(), BOBS_TOOLS);
      assert.match(await bob.call('get-sum', { a: 2, b: 3 }), /5/);
      await assert.rejects(bob.call('get-env'), { code: -32602 });

      const wider = await ada.callWithoutConsent('get-env');
      assert.match(wider.searchParams.get('scope') ?? '', /\bmcp:admin\b/);
      const { searchParams } = await browse(demo, wider.href, 'ada', demo.passwords.ada);
      await ada.finish(searchParams);
      assert.match(await ada.call('get-env'), /PATH/);
    }
    await demo.stop();
  });
}
