// What `gateway.toolsets` says wrong, found before there is a view of it.
import type { Fault } from '../../config/fault.ts';
import { Ledger, type RuleFindings, type RuleInput } from '../../config/ledger.ts';
import { isSlug, slugOf } from '../../config/slug.ts';
import type { Path } from '../../config/source-tree.ts';
import { kindDoubt, targetFault } from './target-fault.ts';

const TOOLSETS: Path = ['gateway', 'toolsets'];

export function judgeToolsets(input: RuleInput): RuleFindings {
  const ledger = new Ledger(input);
  const { gateway, mcpServers } = input.file;
  const servers = Object.keys(mcpServers).map(slugOf);
  for (const [name, targets] of Object.entries(gateway.toolsets)) {
    if (!isSlug(name)) ledger.refuse(NO_PATH, [...TOOLSETS, name], { on: 'key' });
    if (targets.length === 0) ledger.refuse(EMPTY, [...TOOLSETS, name], { on: 'key' });
    for (const [index, target] of targets.entries()) {
      ledger.refuse(targetFault(target, servers), [...TOOLSETS, name, index], { reads: [['mcpServers']] });
      ledger.warn(kindDoubt(target), [...TOOLSETS, name, index]);
    }
  }
  return ledger;
}

const NO_PATH: Fault = {
  message: 'a toolset is part of a path, /mcp/~NAME',
  hint: 'Use 1 to 32 of a-z, 0-9, dot and hyphen; begin with a letter, end with a letter or a digit.',
};

const EMPTY: Fault = { message: 'this toolset names nothing', hint: 'List targets, such as server/tool.' };
