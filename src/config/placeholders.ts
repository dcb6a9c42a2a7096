// The placeholders of a string value: a variable of the environment, with or without a default, a file; a doubled
// dollar is one dollar, and any other dollar is itself.

export type Piece =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'env'; readonly name: string; readonly fallback: string | undefined }
  | { readonly kind: 'file'; readonly path: string }
  /** VS Code asks its user for these; nobody sits here, so the environment answers. */
  | { readonly kind: 'input'; readonly id: string; readonly name: string }
  | { readonly kind: 'wrong'; readonly message: string; readonly hint: string };

const PLACEHOLDER = /\$\$|\$\{([^}]*)\}|\$\{/g;
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
  if (/(^|\{)principal\./.test(content)) {
    return wrong('placeholders of the caller (principal) are not available yet', 'Remove it for now.');
  }
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
