// `portico doctor`: everything that a config names is really reached, and what is wrong is told with what to do.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { doctor } from '../../src/cli/doctor.ts';
import { writeConfig } from '../config/written-config.ts';
import { createAuthority } from '../support/certificates.ts';
import { startFaultyHttpServer } from '../support/faulty-http-server.ts';
import { freePort } from '../support/free-port.ts';
import { descendantsOf } from '../support/process-tree.ts';
import { FAULTY_SERVER } from '../support/stdio-rig.ts';
import { CLIENT, startTokenEndpoint } from '../support/token-endpoint.ts';
import { signingKey, startTokenIssuer } from '../support/token-issuer.ts';

async function examined(t: TestContext, config: unknown): Promise<{ exitCode: number; text: string }> {
  const { file } = await writeConfig(t, JSON.stringify(config));
  let text = '';
  const output = { write: (written: string) => (text += written) };
  const exitCode = await doctor({ file, env: process.env, stdout: output, stderr: output });
  return { exitCode, text };
}

const faulty = (...switches: string[]) => ({
  command: process.execPath,
  args: [FAULTY_SERVER, ...switches],
});

test('what can be reached is told with its era and number of tools, keys and all, and leaves no process', async (t) => {
  const issuer = await startTokenIssuer(t);
  issuer.keys = [signingKey('ES256', 'k')];
  const before = descendantsOf(process.pid).length;
  const { exitCode, text } = await examined(t, {
    mcpServers: { new: faulty('--era=modern'), old: faulty('--era=legacy') },
    gateway: { auth: { issuers: [{ issuer: issuer.issuer }] } },
  });
  assert.equal(exitCode, 0, text);
  assert.match(text, /is valid; 3 to reach\n/);
  assert.match(text, /\nall is well\n$/);
  assert.match(text, /issuer {2}http:\S+ +ok +metadata, 1 key\n/);
  assert.match(text, /server {2}new +ok +modern 2026-07-28, \d+ tools\n/);
  assert.match(text, /server {2}old +ok +legacy 2025-11-25, \d+ tools\n/);
  assert.equal(descendantsOf(process.pid).length, before);
});

test('a credential is obtained for real, and a refusal is told in the words of who refused', async (t) => {
  const endpoint = await startTokenEndpoint(t);
  const upstream = await startFaultyHttpServer();
  t.after(() => upstream.close());
  const auth = { type: 'client_credentials', tokenUrl: endpoint.url, ...CLIENT };
  const config = { mcpServers: { tickets: { url: upstream.url, auth } } };
  const well = await examined(t, config);
  assert.equal(well.exitCode, 0, well.text);
  assert.equal(endpoint.issued.length, 1);
  assert.match(String(upstream.received[0]?.headers.authorization), /^Bearer upstream/);
  endpoint.answer = () => ({ status: 401, body: { error: 'invalid_client', error_description: 'who?' } });
  const { exitCode, text } = await examined(t, config);
  assert.equal(exitCode, 1);
  assert.match(text, /tickets +FAILED +the token endpoint refused: invalid_client: who\?/);
  assert.match(text, /Check what signs Portico in to it/);
  assert.ok(!text.includes(CLIENT.clientSecret));
});

test('each problem is told with what to do about it, and no secret is', async (t) => {
  const issuer = await startTokenIssuer(t);
  issuer.metadata = () => ({ issuer: 'https://another.example', jwks_uri: 'https://another.example/keys' });
  const port = await freePort();
  const { exitCode, text } = await examined(t, {
    mcpServers: {
      absent: { command: '/no/such/program' },
      dies: { ...faulty('--exit-at-start=3') },
      nowhere: { url: `http://user:hunter2-in-url@127.0.0.1:${port}/mcp?key=hunter2-in-query` },
      fine: faulty('--era=modern'),
    },
    gateway: {
      auth: { issuers: [{ issuer: issuer.issuer }] },
      redis: { url: `redis://:hunter2-of-redis@127.0.0.1:${port}` },
    },
  });
  assert.equal(exitCode, 1);
  assert.match(text, /\n5 of 6 cannot be reached\n$/);
  assert.match(
    text,
    /issuer .* FAILED +its metadata is that of another issuer.*\n +Check that gateway\.auth/,
  );
  assert.match(text, /redis +redis:\/\/127\.0\.0\.1:\d+ +FAILED .*\n +Check gateway\.redis\.url/);
  assert.match(text, /absent +FAILED .*\n +Install the program, or give its full path in command\./);
  assert.match(
    text,
    /dies +FAILED .*\n +Run its command by hand, .* NODE_EXTRA_CA_CERTS .* goes into its env\./,
  );
  assert.match(text, /nowhere +FAILED .*\n +Check its url/);
  assert.match(text, /fine +ok /);
  assert.ok(!text.includes('hunter2'), text);
});

test('each finding is told as soon as it is known, however long another takes', async (t) => {
  const issuer = await startTokenIssuer(t);
  issuer.keys = [signingKey('ES256', 'k')];
  const held = Promise.withResolvers<void>();
  const waiting = createServer((_request, response) => void held.promise.then(() => response.destroy()));
  waiting.listen(0, '127.0.0.1');
  await once(waiting, 'listening');
  t.after(() => waiting.close());
  const { port } = waiting.address() as AddressInfo;
  const { file } = await writeConfig(
    t,
    JSON.stringify({
      mcpServers: { slow: { url: `http://127.0.0.1:${port}/mcp` } },
      gateway: { auth: { issuers: [{ issuer: issuer.issuer }] } },
    }),
  );
  let text = '';
  const output = {
    write(written: string) {
      text += written;
      // Only what has been told by now lets the other one end.
      if (written.includes('issuer ')) held.resolve();
    },
  };
  assert.equal(await doctor({ file, env: process.env, stdout: output, stderr: output }), 1);
  assert.match(text, /issuer [^\n]* ok [^\n]*\n {2}server {2}slow [^\n]* FAILED /);
});

test('of a child that does not start, the last words are told, without its secrets', async (t) => {
  const words = "for (let n = 1; n <= 9; n += 1) console.error('line ' + n + ' ' + process.env.API_KEY);";
  const { text } = await examined(t, {
    mcpServers: {
      dies: {
        command: process.execPath,
        args: ['-e', `${words} process.exit(3)`],
        env: { API_KEY: 'hunter2-of-env' },
      },
      hangs: {
        command: process.execPath,
        args: ['-e', "console.error('waiting for a licence'); setInterval(() => {}, 1000)"],
        startTimeout: '500ms',
      },
    },
  });
  const told = [...text.matchAll(/^ {10}stderr: (.*)$/gm)].map(([, line]) => line);
  assert.deepEqual(
    told.toSorted(),
    [...[5, 6, 7, 8, 9].map((n) => `line ${n} [redacted]`), 'waiting for a licence'].toSorted(),
  );
});

test('an error of TLS is a sentence with what to do, and its code', async (t) => {
  const authority = createAuthority();
  const wanting = { ca: authority.cert, requestCert: true, rejectUnauthorized: true };
  const serve = async (options: https.ServerOptions = {}) => {
    const server = https.createServer({ ...authority.issueServer(), ...options }, (_request, response) =>
      response.end(),
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => server.close());
    return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const plain = createServer().listen(0, '127.0.0.1');
  await once(plain, 'listening');
  t.after(() => plain.close());
  const ours = await serve();
  const other = await serve(authority.issueServer(['other.example']));
  const { file } = await writeConfig(
    t,
    JSON.stringify({
      mcpServers: {
        ours: { url: `${ours}/mcp` },
        named: { url: `${other.replace('127.0.0.1', 'localhost')}/mcp`, tls: { ca: 'ca.pem' } },
        plain: { url: `https://127.0.0.1:${(plain.address() as AddressInfo).port}/mcp` },
        client: { url: `${await serve({ ...wanting, maxVersion: 'TLSv1.2' })}/mcp`, tls: { ca: 'ca.pem' } },
        later: { url: `${await serve(wanting)}/mcp`, tls: { ca: 'ca.pem' } },
      },
      gateway: { auth: { issuers: [{ issuer: ours }] } },
    }),
  );
  await writeFile(join(dirname(file), 'ca.pem'), authority.cert);
  let text = '';
  const output = { write: (written: string) => (text += written) };
  assert.equal(await doctor({ file, env: process.env, stdout: output, stderr: output }), 1, text);
  for (const [subject, told] of [
    [
      'ours',
      /cannot be traced to an authority.*\(UNABLE_TO_VERIFY_LEAF_SIGNATURE\)\n.*its tls\.ca, or gateway\.outbound\.ca/,
    ],
    ['named', /for another name.*\(ERR_TLS_CERT_ALTNAME_INVALID\)\n +Use the name/],
    ['plain', /does not speak TLS.*\(ERR_SSL_WRONG_VERSION_NUMBER\)\n +Write http/],
    ['client', /it wants a certificate of its client.*\n.*give it tls\.cert/],
    ['later', /FAILED.*\n.*certificate of its client/],
    [ours, /cannot be traced to an authority.*\n.*into gateway\.outbound\.ca/],
  ] as const) {
    const row = text.slice(text.indexOf(`  ${subject} `));
    assert.match(row.split(/\n {2}(?! )/)[0] ?? '', told, subject);
  }
});

test('a config that is wrong is told as check tells it, and nothing is reached', async (t) => {
  const { exitCode, text } = await examined(t, {
    mcpServers: { a: { url: 'http://127.0.0.1/mcp', colour: 1 } },
  });
  assert.equal(exitCode, 1);
  assert.match(text, /portico\.\w+:\d+:\d+ {2}mcpServers\.a\.colour/);
});
