// A config checked whole, as every command needs it: by its own rules, and by those of what is built upon it.

import { judgeLimits } from '../access/limits/judge-limits.ts';
import { judgeAccess } from '../access/rules/judge-access.ts';
import { judgeToolsets } from '../access/rules/judge-toolsets.ts';
import { type LoadedConfig, type LoadOptions, loadConfig } from '../config/load.ts';
import { judgeContainment } from '../servers/stdio/judge-containment.ts';

export function loadWhole(file: string, options: Omit<LoadOptions, 'judges'>): Promise<LoadedConfig> {
  return loadConfig(file, {
    ...options,
    judges: [judgeAccess, judgeLimits, judgeToolsets, judgeContainment],
  });
}
