// Rules of variables that are made for each caller: whose process it is must be beyond doubt, and so must be the folder
// that its secrets come from.
import { posix } from 'node:path';
import { type Fault, fault } from './fault.ts';
import { literalFolder, type NamePart, names, namingParts, type PersonalValue } from './personal-value.ts';
import type { ConfigFile, ServerEntry } from './schema.ts';
import { hasSeveralIssuers } from './server-auth-rules.ts';

/** What issuers' names are made of. */
const NAME_CHARACTERS = /^[a-z0-9-]*$/;

export function personalFault(
  value: PersonalValue,
  { isolation, warm }: Pick<ServerEntry, 'isolation' | 'warm'>,
  gateway: ConfigFile['gateway'],
): Fault | undefined {
  if (isolation !== 'principal' && isolation !== 'session') {
    return fault(
      'a variable of the caller needs a process that nobody else uses',
      'Set isolation: principal, or session.',
    );
  }
  if (gateway.auth === undefined) {
    return fault('without gateway.auth no caller is known', 'Set gateway.auth, or remove the placeholder.');
  }
  if (warm > 0) {
    return fault("a process that is kept ready is nobody's yet", 'Remove `warm`, or the placeholder.');
  }
  const texts = namingParts(value);
  return texts.map((parts) => issuerFault(parts, gateway)).find(Boolean) ?? fileFault(value);
}

/** Whether the issuers' names are needed. */
export function namesIssuers(value: PersonalValue): boolean {
  return namingParts(value).some((parts) => names(parts, 'issuerName'));
}

function issuerFault(parts: readonly NamePart[], gateway: ConfigFile['gateway']): Fault | undefined {
  if (!names(parts, 'subject')) return undefined;
  if (!names(parts, 'issuerName')) {
    if (!hasSeveralIssuers(gateway)) return undefined;
    return fault(
      'equal subjects of two issuers would be one person here',
      `Name the issuer too: \${principal.issuerName}/\${principal.subject}.`,
    );
  }
  return isAmbiguous(parts)
    ? fault('nothing tells the issuer from the subject', 'Put a slash or an underscore between them.')
    : undefined;
}

/** `a` and `bc` must not read like `ab` and `c`. */
function isAmbiguous(parts: readonly NamePart[]): boolean {
  const written = parts.map((part) => (part.kind === 'text' ? part.text : `\0${part.field}\0`)).join('');
  const between = /\0(?:subject|issuerName)\0([^\0]*)(?=\0)/g;
  return [...written.matchAll(between)].some(([, text = '']) => NAME_CHARACTERS.test(text));
}

function fileFault(value: PersonalValue): Fault | undefined {
  for (const part of value) {
    if (part.kind !== 'file') continue;
    const folder = posix.normalize(literalFolder(part.path) || '.');
    if (['.', './', '/'].includes(folder) || folder.startsWith('..')) {
      return fault(
        'the path of this file has to begin with a folder, below which it stays',
        `As in \${file:/secrets/\${principal.subject}/token}.`,
      );
    }
  }
  return undefined;
}
