#!/usr/bin/env -S node --max-semi-space-size=16
// The process: arguments in, exit code out. Everything else is elsewhere.
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';

// What Node has compiled is kept, which halves the time to start from the second time on. Beside the program, where
// nobody else writes: whoever could would have their code run. Where it cannot be written all is as without.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/portico', import.meta.url)));

// Few new objects survive: to share the work among threads costs more than it is, a tenth of the CPU of a call (bench:
// small).
setFlagsFromString('--no-parallel-scavenge');
// What each call leaves behind is as old as the call: were some of it made among the old objects, as V8 does where much
// survives for a while, it would keep the rest alive until a full collection. A third of the CPU of a call.
setFlagsFromString('--no-allocation-site-pretenuring');

const { runCommand } = await import('./cli/run-command.ts');
process.exitCode = await runCommand(process);
