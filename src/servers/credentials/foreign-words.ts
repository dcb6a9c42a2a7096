// What another party said in a refusal, made fit for a log line: short, plain, and without anything that could be a
// token.

const MAX_CHARACTERS = 200;
/** What OAuth lets an `error_description` hold (RFC 6749, section 5.2). */
const OTHER_CHARACTERS = /[^\x20\x21\x23-\x5b\x5d-\x7e]+/g;
/** Longer than any word. */
const LIKE_A_TOKEN = /[\w.~+/=-]{25,}/g;

export function foreignWords(...parts: readonly unknown[]): string {
  const texts = parts.filter((part) => typeof part === 'string').map(plainText);
  return texts.filter((text) => text !== '').join(': ');
}

function plainText(text: string): string {
  const plain = text.slice(0, 4 * MAX_CHARACTERS).replace(OTHER_CHARACTERS, ' ');
  return plain.replace(LIKE_A_TOKEN, '[...]').trim().slice(0, MAX_CHARACTERS);
}

/** The `error` and `error_description` of a challenge (RFC 6750, section 3); nothing else of it is of use here. */
export function challengeWords(challenge: string | readonly string[] | undefined): string {
  const text = (typeof challenge === 'string' ? challenge : (challenge ?? []).join(', ')).slice(0, 4096);
  const member = (name: string) => new RegExp(`\\b${name}="([^"]*)"`).exec(text)?.[1];
  return foreignWords(member('error'), member('error_description'));
}
