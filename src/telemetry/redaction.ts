// Takes secrets out of text that is about to leave the process: log lines, and the last errors that /status shows.
// By registered value, by the name of a JSON member, and by shape; it knows nothing of where the text came from.

const MASK = '[redacted]';
/** Shorter values are ordinary words or numbers: masking `info` or `8080` everywhere would hide the log itself. */
const MIN_SECRET_LENGTH = 6;

const SECRET_MEMBERS = [
  '(?:proxy-)?authorization',
  '(?:set-)?cookie',
  '(?:x-)?api[-_]?key',
  '(?:access|refresh|id|subject|actor)_token',
  'client_?secret',
  'client_assertion',
  'mcp-session-id',
  'requestState',
  'password',
  'secret',
  'token',
].join('|');

interface Shape {
  readonly pattern: RegExp;
  readonly mask: (match: string, group: string | undefined) => string;
  /** Part of all that has this shape, and as rare: that a line does not hold it is found out sooner (bench: small). */
  readonly needs?: string;
}

/** None takes longer than a text is long: each begins with what is rare, or goes on behind all that it looked at. */
const SHAPES: readonly Shape[] = [
  {
    // One that was cut off lacks its end.
    pattern: new RegExp(`"(${SECRET_MEMBERS})":(?:"(?:[^"\\\\]|\\\\.)*"?|\\[[^\\]]*\\]?)`, 'gi'),
    mask: (_match, name) => `"${name}":"${MASK}"`,
  },
  { pattern: /\b(Bearer|DPoP)\s+[\w.~+/=-]{8,}/gi, mask: (_match, scheme) => `${scheme} ${MASK}` },
  {
    pattern: /\beyJ[\w-]{8,}(\.[\w-]+\.[\w-]*)?/g,
    mask: (match, parts) => (parts === undefined ? match : MASK),
    needs: 'yJ',
  },
  // Userinfo, then queries: both carry keys of servers that know no better. What stands before them is looked back at.
  { pattern: /:\/\/(?<=\b[a-z][a-z0-9+.-]*:\/\/)[^\s/?#@"\\]+@/gi, mask: () => `://${MASK}@`, needs: '@' },
  { pattern: /\?(?<=\bhttps?:\/\/[^\s?#"\\]+\?)[^\s#"\\]*/gi, mask: () => `?${MASK}`, needs: '?' },
];

const REGEXP_SYNTAX = /[\\^$.*+?()[\]{}|/-]/g;

export type Redact = (text: string) => string;

/** @param secrets values to mask wherever they turn up, also as JSON, percent-encoded or base64 text */
export function createRedact(secrets: readonly string[]): Redact {
  const values = valuePattern(secrets);
  return (text) => {
    let line = values === undefined ? text : text.replace(values, maskOf);
    for (const { pattern, mask, needs } of SHAPES) {
      if (needs === undefined || line.includes(needs)) line = line.replace(pattern, mask);
    }
    return line;
  };
}

function valuePattern(secrets: readonly string[]): RegExp | undefined {
  const forms = new Set(secrets.filter((secret) => secret.length >= MIN_SECRET_LENGTH).flatMap(formsOf));
  if (forms.size === 0) return undefined;
  // The longest first, or a secret that begins with another one would leave its tail behind.
  const alternatives = [...forms].sort((a, b) => b.length - a.length).map(alternativeFor);
  return new RegExp(alternatives.join('|'), 'g');
}

function formsOf(secret: string): readonly string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  return [
    secret,
    json,
    encodeURIComponent(secret),
    Buffer.from(secret).toString('base64').replace(/=+$/, ''),
  ];
}

/** Digits only as a whole number: a timestamp may well contain six given digits. */
function alternativeFor(form: string): string {
  return /^\d+$/.test(form) ? `(?<![\\d.])${form}(?![\\d.])` : form.replace(REGEXP_SYNTAX, '\\$&');
}

/** A zero for digits: a line of JSON stays JSON where they stood unquoted. */
function maskOf(value: string): string {
  return /^\d+$/.test(value) ? '0' : MASK;
}
