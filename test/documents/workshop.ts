// A checkout as a newcomer has it after `npm ci`, in a folder of its own, with the files that the documents speak of.
// Its ports are free ones: what is typed says 8080, and is run with another.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { addToChain, CHAIN_START } from '../../src/telemetry/audit/audit-chain.ts';
import { createTextDigest } from '../../src/telemetry/audit/text-digest.ts';
import { freePort } from '../support/free-port.ts';

export interface Workshop extends AsyncDisposable {
  readonly folder: string;
  /** Types a command line and waits for its end. */
  run(command: string): Promise<{ readonly exitCode: number | null; readonly output: string }>;
  /** Types one that goes on, and waits until it has said something. Disposing of it is Ctrl-C. */
  start(command: string, says: RegExp): Promise<Running>;
  write(path: string, text: string): Promise<void>;
  /** Makes the commands of a package of npm's available. */
  install(name: string): Promise<void>;
  /** Writes audit files that follow each other. @returns the hash of the last record */
  writeAudit(files: readonly string[], keyFile: string): Promise<string>;
}

export interface Running extends AsyncDisposable {
  output(): string;
}

/** Those that the documents speak of. */
const TOLD_PORTS = ['8080', '9090', '8081', '9081', '9181', '8082', '9082', '9182', '6379'];
const COPIED = [
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'build.ts',
  'README.md',
  'LICENSE',
  'CHANGELOG.md',
];
const COPIED_FOLDERS = ['src', 'config'];
const AUDIT_KEY = 'an audit key that only this test has';
const SAYS_WITHIN_MS = 60_000;

const CONFIG = `
mcpServers:
  everything: { command: node, args: ["node_modules/@modelcontextprotocol/server-everything/dist/index.js", "stdio"] }
gateway:
  listen: { host: 127.0.0.1, port: 8080 }
  admin: { host: 127.0.0.1, port: 9090 }
`;

const CLIENT_CONFIG = {
  mcpServers: {
    everything: {
      command: 'node',
      args: ['../node_modules/@modelcontextprotocol/server-everything/dist/index.js', 'stdio'],
    },
  },
};

const RULES = `
mcpServers:
  github: { url: "http://127.0.0.1:1/mcp" }
gateway:
  publicUrl: https://mcp.example.com
  auth: { issuers: [{ issuer: "https://idp.example.com" }] }
  access: { rules: [{ name: all, allow: [github], deny: ["github/delete_*"] }] }
`;

const CLAIMS = {
  iss: 'https://idp.example.com',
  sub: 'alice',
  aud: 'https://mcp.example.com/mcp',
  exp: 4_000_000_000,
  client_id: 'ide',
  scope: 'mcp',
};

export async function openWorkshop(root: string): Promise<Workshop> {
  const folder = await mkdtemp(join(tmpdir(), 'portico-workshop-'));
  const ports = new Map<string, string>();
  for (const told of TOLD_PORTS) ports.set(told, String(await freePort()));
  const withPorts = (text: string) => text.replaceAll(/\b\d{4}\b/g, (number) => ports.get(number) ?? number);
  const write = async (path: string, text: string) => {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), withPorts(text));
  };
  for (const file of COPIED) await cp(join(root, file), join(folder, file));
  for (const name of COPIED_FOLDERS) await cp(join(root, name), join(folder, name), { recursive: true });
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  const started = join(folder, 'config/portico.yaml');
  await writeFile(started, withPorts(await readFile(started, 'utf8')));
  await write('portico.yaml', CONFIG);
  await write('home/.cursor/mcp.json', JSON.stringify(CLIENT_CONFIG));
  await write('rules.yaml', RULES);
  await write('claims.json', JSON.stringify(CLAIMS));
  await write('token.txt', unsigned(CLAIMS));
  // What `npm install -g .` makes, without installing anything.
  await write(
    'bin/portico',
    `#!/bin/sh\ncase "$1" in explain) export PORTICO_CONFIG=rules.yaml;; esac\nexec node src/main.ts "$@"\n`,
  );
  await chmod(join(folder, 'bin/portico'), 0o755);

  const tools = join(folder, 'tools');
  const env = {
    ...process.env,
    HOME: join(folder, 'home'),
    PATH: [
      join(folder, 'bin'),
      join(tools, 'node_modules/.bin'),
      join(root, 'node_modules/.bin'),
      process.env.PATH,
    ].join(':'),
    npm_config_prefix: join(folder, 'global'),
    npm_config_cache: process.env.npm_config_cache ?? join(process.env.HOME ?? tmpdir(), '.npm'),
  };
  const begin = (command: string): { child: ChildProcess; output: () => string } => {
    const child = spawn('sh', ['-c', withPorts(command)], {
      cwd: folder,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        said += text;
        child.emit('said');
      });
    }
    return { child, output: () => said };
  };

  async function run(command: string) {
    const { child, output } = begin(command);
    await once(child, 'close');
    return { exitCode: child.exitCode, output: output() };
  }

  return {
    folder,
    run,
    write,
    async start(command, says) {
      const { child, output } = begin(command);
      const ended = once(child, 'close').then(() => {
        throw new Error(`${command} ended before it said ${says}: ${output()}`);
      });
      const patience = AbortSignal.timeout(SAYS_WITHIN_MS);
      while (!says.test(output())) await Promise.race([once(child, 'said', { signal: patience }), ended]);
      ended.catch(() => {});
      return {
        output,
        async [Symbol.asyncDispose]() {
          const over = once(child, 'close');
          // Ctrl-C goes to the whole foreground group.
          process.kill(-Number(child.pid), 'SIGINT');
          await over;
        },
      };
    },
    async install(name) {
      const { exitCode, output } = await run(`npm install --no-audit --no-fund --prefix ${tools} ${name}`);
      if (exitCode !== 0) throw new Error(output);
    },
    async writeAudit(files, keyFile) {
      let head = { seq: 0, hash: CHAIN_START };
      for (const file of files) {
        const link = addToChain(head, JSON.stringify({ file }), createTextDigest(AUDIT_KEY));
        head = link.head;
        await writeFile(join(folder, file), `${link.line}\n`);
      }
      await writeFile(join(folder, keyFile), `${AUDIT_KEY}\n`);
      return head.hash;
    },
    async [Symbol.asyncDispose]() {
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function unsigned(claims: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'RS256', typ: 'at+jwt' })}.${part(claims)}.c2lnbmF0dXJl`;
}
