// Which command is meant, and its exit code. Each is loaded when it is asked for: who wants the version waits for no gateway.
import { parseArguments } from './arguments.ts';
import { HELP, mistakeLine } from './help.ts';
import { readVersion } from './version.ts';

export async function runCommand({
  argv,
  env,
  stdout,
  stderr,
}: Pick<NodeJS.Process, 'argv' | 'env' | 'stdout' | 'stderr'>): Promise<number> {
  const command = parseArguments(argv.slice(2), env);
  switch (command.kind) {
    case 'serve':
      return (await import('./serve.ts')).serve({ ...command, env, stdout, stderr });
    case 'check':
      return (await import('./check.ts')).check({ ...command, env, stdout, stderr });
    case 'doctor':
      return (await import('./doctor.ts')).doctor({ ...command, env, stdout, stderr });
    case 'explain':
      return (await import('./explain.ts')).explain({ ...command, env, stdout, stderr });
    case 'audit verify':
      return (await import('./audit-verify.ts')).auditVerify({ ...command, stdout, stderr });
    case 'pin':
      return (await import('./pin.ts')).pin({ ...command, env, stdout, stderr });
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
