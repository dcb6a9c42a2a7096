// Whether a URI could be one that a template (RFC 6570) leads to. In linear time, whatever the template: it is the
// server's word.

const EXPRESSION = /\{[^{}]*\}/;

/** Expressions stand for any text, an empty one too; the rest has to be there, in its order. */
export function matchesTemplate(template: string, uri: string): boolean {
  const [first = '', ...rest] = template.split(EXPRESSION);
  const last = rest.pop();
  if (last === undefined) return uri === first;
  if (!uri.startsWith(first) || uri.length < first.length + last.length || !uri.endsWith(last)) return false;
  const end = uri.length - last.length;
  let at = first.length;
  for (const literal of rest) {
    const found = uri.indexOf(literal, at);
    if (found < 0 || found + literal.length > end) return false;
    at = found + literal.length;
  }
  return true;
}
