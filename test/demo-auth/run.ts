// `npm run demo:auth`: an authorization server in this process, Portico beside it, and two people to sign in as.
// Everything listens on loopback alone.
import { parseArgs } from 'node:util';
import { serve } from '../../src/cli/serve.ts';
import { DEMO_CONFIG, startDemoIssuer } from './demo-issuer.ts';
import { peopleTable } from './people.ts';

const { env, stdout, stderr } = process;
try {
  process.exitCode = await run();
} catch (thrown) {
  stderr.write(`demo:auth: cannot start: ${thrown instanceof Error ? thrown.message : String(thrown)}\n`);
  process.exitCode = 1;
}

async function run(): Promise<number> {
  const { values: options } = parseArgs({
    options: {
      port: { type: 'string', default: '8080' },
      'issuer-port': { type: 'string', default: '8090' },
      opaque: { type: 'boolean', default: false },
    },
  });
  const port = Number(options.port);
  const issuer = await startDemoIssuer(port, {
    port: Number(options['issuer-port']),
    format: options.opaque ? 'opaque' : 'jwt',
  });
  await using idp = issuer.idp;
  stdout.write(`Sign-in is at        ${idp.issuer}\n\n${peopleTable()}\n\n`);
  // Awaited here, since the authorization server ends with this block.
  return await serve({ file: DEMO_CONFIG, listen: { port }, env: { ...env, ...issuer.env }, stdout, stderr });
}
