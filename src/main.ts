#!/usr/bin/env node
// The process: arguments, signals, exit code. Everything else is elsewhere.
import { readFile } from 'node:fs/promises';
import { loadConfig } from './config/load.ts';
import { createGateway } from './gateway.ts';

const file = process.argv[process.argv.indexOf('--config') + 1] ?? 'config/portico.yaml';
const loaded = await loadConfig(process.argv.includes('--config') ? file : 'config/portico.yaml', {
  env: process.env,
});
if (!loaded.ok) process.exit(1);
const { version } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};
const gateway = await createGateway({ config: loaded.config, version });
const addresses = await gateway.start();
for (const url of addresses.public) process.stdout.write(`MCP endpoint  ${url}/mcp\n`);
for (const url of addresses.admin) process.stdout.write(`Admin         ${url}\n`);
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    void gateway.close().then(() => process.exit(0));
  });
}
