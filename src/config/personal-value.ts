// A variable of a child's environment that is made for each caller, at the start of that caller's process.

export type PersonalField = 'subject' | 'issuerName';

export const PERSONAL_FIELDS: readonly PersonalField[] = ['subject', 'issuerName'];

export type NamePart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'principal'; readonly field: PersonalField };

export type PersonalPart = NamePart | PersonalFile;

export interface PersonalFile {
  readonly kind: 'file';
  /** It begins with text, which names the folder that the file has to be in. */
  readonly path: readonly NamePart[];
}

export type PersonalValue = readonly PersonalPart[];
export type PersonalEnv = Readonly<Record<string, PersonalValue>>;

/** Each text that names a person: the value itself, and the path of every file in it. */
export function namingParts(value: PersonalValue): (readonly NamePart[])[] {
  const own = value.filter((part) => part.kind !== 'file');
  return [own, ...value.filter((part) => part.kind === 'file').map(({ path }) => path)];
}

export function names(parts: readonly NamePart[], field: PersonalField): boolean {
  return parts.some((part) => part.kind === 'principal' && part.field === field);
}

/** The folder that literally begins a path, with its last slash; empty where there is none. */
export function literalFolder(path: readonly NamePart[]): string {
  const [first] = path;
  const text = first?.kind === 'text' ? first.text : '';
  return text.slice(0, text.lastIndexOf('/') + 1);
}
