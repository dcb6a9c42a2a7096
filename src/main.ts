#!/usr/bin/env -S node --max-semi-space-size=8
// The process: arguments in, exit code out. Everything else is elsewhere.
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

// What Node has compiled is kept, which halves the time to start from the second time on. Beside the program, where
// nobody else writes: whoever could would have their code run. Where it cannot be written all is as without.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/portico', import.meta.url)));

const { runCommand } = await import('./cli/run-command.ts');
process.exitCode = await runCommand(process);
