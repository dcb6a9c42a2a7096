// The placeholders of a string value: a variable of the environment, with or without a default, a file, the caller; a
// doubled dollar is one dollar, and any other dollar is itself.
import { type NamePart, PERSONAL_FIELDS, type PersonalFile } from './personal-value.ts';

export type Piece =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'env'; readonly name: string; readonly fallback: string | undefined }
  | { readonly kind: 'file'; readonly path: string }
  /** VS Code asks its user for these; nobody sits here, so the environment answers. */
  | { readonly kind: 'input'; readonly id: string; readonly name: string }
  /** Known only once somebody calls. */
  | { readonly kind: 'personal'; readonly part: NamePart | PersonalFile }
  | { readonly kind: 'wrong'; readonly message: string; readonly hint: string };

/** A placeholder of the caller may stand within another one. */
const PLACEHOLDER = /\$\$|\$\{((?:[^}$]|\$(?!\{principal\.)|\$\{principal\.[^{}]*\})*)\}|\$\{/g;
const PRINCIPAL = /\$\{principal\.([^{}]*)\}/;
const VARIABLE = /^(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s;

export function parsePlaceholders(text: string): Piece[] {
  const pieces: Piece[] = [];
  let end = 0;
  for (const match of text.matchAll(PLACEHOLDER)) {
    if (match.index > end) pieces.push({ kind: 'text', text: text.slice(end, match.index) });
    pieces.push(match[0] === '$$' ? { kind: 'text', text: '$' } : pieceOf(match[1]));
    end = match.index + match[0].length;
  }
  if (end < text.length) pieces.push({ kind: 'text', text: text.slice(end) });
  return pieces;
}

function pieceOf(content: string | undefined): Piece {
  if (content === undefined)
    return wrong('a placeholder is not closed', 'End it with }, or write $$ for a dollar.');
  if (content.startsWith('principal.')) return personal(content.slice('principal.'.length));
  if (content.startsWith('file:') && PRINCIPAL.test(content)) return personalFile(content.slice(5));
  if (content.includes('{'))
    return wrong('placeholders do not nest', 'Put the whole value into one variable.');
  const [, name, fallback] = VARIABLE.exec(content) ?? [];
  if (name !== undefined) return { kind: 'env', name, fallback };
  const [, kind, rest] = /^([a-z]+):(.+)$/s.exec(content) ?? [];
  if (kind === 'file' && rest !== undefined) return { kind: 'file', path: rest };
  if (kind === 'input' && rest !== undefined) return { kind: 'input', id: rest, name: variableFor(rest) };
  return wrong(
    'this placeholder is not understood',
    `There are \${NAME}, \${NAME:-default}, \${env:NAME} and \${file:PATH}; $$ is a dollar.`,
  );
}

function personal(name: string): Piece {
  const field = PERSONAL_FIELDS.find((known) => known === name);
  if (field === undefined) {
    const hint = `There are \${principal.subject} and \${principal.issuerName}.`;
    return wrong('this is not known of a caller', hint);
  }
  return { kind: 'personal', part: { kind: 'principal', field } };
}

function personalFile(path: string): Piece {
  const parts: NamePart[] = [];
  for (const [index, text] of path.split(PRINCIPAL).entries()) {
    if (index % 2 === 0) {
      if (text.includes('{')) return wrong('placeholders do not nest', 'Only those of the caller do.');
      if (text !== '') parts.push({ kind: 'text', text });
      continue;
    }
    const piece = personal(text);
    if (piece.kind !== 'personal' || piece.part.kind === 'file') return piece;
    parts.push(piece.part);
  }
  return { kind: 'personal', part: { kind: 'file', path: parts } };
}

function wrong(message: string, hint: string): Piece {
  return { kind: 'wrong', message, hint };
}

/** `github-token` is asked for as GITHUB_TOKEN. */
function variableFor(inputId: string): string {
  return inputId
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, '_')
    .replace(/^(?=[0-9])/, '_');
}
