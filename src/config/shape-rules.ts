// Rules about which tools of a server exist, and under which names.
import { type Fault, fault } from './fault.ts';
import type { ServerEntry } from './schema.ts';

const MAX_GLOB_CHARACTERS = 512;

export function globFault(glob: string): Fault | undefined {
  if (glob.length > MAX_GLOB_CHARACTERS) {
    return fault(`a glob has at most ${MAX_GLOB_CHARACTERS} characters`, '');
  }
  return glob === glob.trim()
    ? undefined
    : fault('a glob neither begins nor ends with a space', 'Remove it.');
}

export function nothingAllowed({ allow }: ServerEntry['tools']): Fault | undefined {
  return allow.length > 0
    ? undefined
    : fault('no tool of this server exists', 'Name some, or leave allow out.');
}

/** Those that name a tool as one above does: neither of the two is served. */
export function repeatedNames(overrides: ServerEntry['overrides']['tools']): readonly string[] {
  const seen = new Set<string>();
  return Object.entries(overrides)
    .filter(([, { name }]) => {
      const isRepeated = name !== undefined && seen.has(name);
      if (name !== undefined) seen.add(name);
      return isRepeated;
    })
    .map(([own]) => own);
}

export const SAME_NAME: Fault = {
  message: 'an override above gives the same name, so neither tool is served',
  hint: 'Rename one.',
};

export const SAYS_NOTHING: Fault = {
  message: 'this override changes nothing',
  hint: 'Give it a name, a description or annotations.',
};
