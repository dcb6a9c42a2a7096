// JSON as editors write it has comments. They become spaces, so that every other character keeps its place.

/** Whether the text is JSON (an object, perhaps after comments), which YAML's own comments never begin. */
export function looksLikeJson(text: string): boolean {
  return /^(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*\{/.test(text);
}

const TOKEN = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\n])*'|(?<![^\s{}[\],"'])(?:\/\/[^\n\r]*|\/\*[\s\S]*?\*\/)/g;

/** A comment begins at the start, after white space or after a mark of JSON: `http://x` holds none. */
export function blankJsonComments(text: string): string {
  return text.replace(TOKEN, (token) => (token.startsWith('/') ? token.replace(/[^\n\r]/g, ' ') : token));
}
