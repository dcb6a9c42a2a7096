#!/usr/bin/env -S node --max-semi-space-size=8
// The process: arguments in, exit code out. Everything else is elsewhere.
import { parseArguments } from './cli/arguments.ts';
import { auditVerify } from './cli/audit-verify.ts';
import { check } from './cli/check.ts';
import { doctor } from './cli/doctor.ts';
import { explain } from './cli/explain.ts';
import { HELP, mistakeLine } from './cli/help.ts';
import { pin } from './cli/pin.ts';
import { serve } from './cli/serve.ts';
import { readVersion } from './cli/version.ts';

const { argv, env, stdout, stderr } = process;

process.exitCode = await run();

async function run(): Promise<number> {
  const command = parseArguments(argv.slice(2), env);
  switch (command.kind) {
    case 'serve':
      return serve({ ...command, env, stdout, stderr });
    case 'check':
      return check({ ...command, env, stdout, stderr });
    case 'doctor':
      return doctor({ ...command, env, stdout, stderr });
    case 'explain':
      return explain({ ...command, env, stdout, stderr });
    case 'audit verify':
      return auditVerify({ ...command, stdout, stderr });
    case 'pin':
      return pin({ ...command, env, stdout, stderr });
    case 'help':
      stdout.write(HELP);
      return 0;
    case 'version':
      stdout.write(`${await readVersion()}\n`);
      return 0;
    case 'mistake':
      stderr.write(mistakeLine(command.message));
      return 2;
  }
}
