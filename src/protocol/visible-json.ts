// JSON text for people to read: characters that show nothing, or turn a line around, stand there by their number. What
// a tool says to a model must not hide from whoever approves it.

const INVISIBLE = /[\p{Cf}\p{Co}\p{Cn}\u007f-\u009f\u2028\u2029]/gu;

/** The same JSON, as JSON. */
export function visibleJson(text: string): string {
  return text.replace(INVISIBLE, (character) =>
    Array.from({ length: character.length }, (_, at) => escaped(character.charCodeAt(at))).join(''),
  );
}

function escaped(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`;
}
