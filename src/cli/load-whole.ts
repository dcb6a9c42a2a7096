// A config checked whole, as every command needs it: by its own rules, and by those of what is built upon it.
import { judgeAccess } from '../access/judge-access.ts';
import { judgeLimits } from '../access/judge-limits.ts';
import { judgeToolsets } from '../access/judge-toolsets.ts';
import { type LoadedConfig, type LoadOptions, loadConfig } from '../config/load.ts';
import { judgeContainment } from '../servers/stdio/judge-containment.ts';

export function loadWhole(file: string, options: Omit<LoadOptions, 'judges'>): Promise<LoadedConfig> {
  return loadConfig(file, {
    ...options,
    judges: [judgeAccess, judgeLimits, judgeToolsets, judgeContainment],
  });
}
