// How a resource's URI may be read by whoever gets it: as it stands, or decoded, once or more often. A rule grants what
// it grants in every reading, and refuses what it refuses in any, so that no spelling slips through between the two.

export interface UriReadings {
  /** A grant must hold for each of them. */
  readonly granted: readonly string[];
  /** For a refusal one of them is enough. */
  readonly refused: readonly string[];
}

/** Longer ones are nobody's resource. */
const MAX_CHARACTERS = 4_096;
/** Encoded more often than this, it is meant to deceive. */
const MAX_DECODINGS = 8;

/** Most URIs: there is but one way to read them. */
const PLAIN =
  /^(?:file:\/\/|(?!file:)[a-z][a-z0-9+.-]*:\/\/[a-z0-9][a-z0-9.:-]*)(?:\/[\w~!$&'()*+,=:@-][\w~!$&'()*+,=:@.-]*)*$/;
const SCHEME = /^[a-z][a-z0-9+.-]*:/i;
const AUTHORITY = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i;
const ENCODED = /(?:%[0-9a-f]{2})+/gi;
/** Longer forms of ASCII characters than UTF-8 allows; careless decoders take them all the same. */
const OVERLONG = /%(?:c[01]|e0%[89]|f0%8)/i;
// biome-ignore lint/suspicious/noControlCharactersInRegex: URL parsers drop some of them, so `.\t.` may become `..`.
const HIDING = /[\u0000-\u001f\u007f]|^ | $/;

/**
 * The readings of a URI as a client sends it or a server lists it; undefined for one that no rule is even asked about:
 * with dot segments in any reading, or with what parsers silently drop.
 */
export function readUri(uri: string): UriReadings | undefined {
  if (uri.length > MAX_CHARACTERS) return undefined;
  if (PLAIN.test(uri)) return { granted: [uri], refused: [uri] };
  const granted = new Set<string>();
  for (let text = uri, round = 0; ; round += 1) {
    const decoded = isPlain(text) ? decodeOnce(text) : undefined;
    if (decoded === undefined || round > MAX_DECODINGS) return undefined;
    for (const reading of readingsOf(text)) granted.add(reading);
    if (decoded === text) break;
    text = decoded;
  }
  const refused = [...granted].flatMap((reading) => [reading, ...withoutTail(reading)]);
  return { granted: [...granted], refused: [...new Set(refused)] };
}

/** The readings of what every URI of a template begins with; undefined where its fixed parts have dot segments. */
export function readUriTemplate(template: string): readonly string[] | undefined {
  if (readUri(template.replace(/\{[^{}]*\}/g, 'x')) === undefined) return undefined;
  const beginning = template.split('{', 1)[0] ?? '';
  // Something follows, so a dot at its end is not a segment yet.
  return readUri(`${beginning}x`)?.granted.map((reading) => reading.slice(0, -1));
}

/** The same spellings of a pattern. An encoded star stays one: decoded, it would stand for anything. */
export function readUriPattern(pattern: string): readonly string[] {
  const spellings = new Set<string>();
  for (let text = pattern, round = 0; round <= MAX_DECODINGS; round += 1) {
    for (const reading of readingsOf(text)) spellings.add(reading);
    const decoded = text
      .split(/(%2a)/i)
      .map((part) => (/^%2a$/i.test(part) ? part : (decodeOnce(part) ?? part)))
      .join('');
    if (decoded === text || decoded.split('*').length !== text.split('*').length) break;
    text = decoded;
  }
  return [...spellings];
}

/** Whether it has a segment that leads elsewhere: `.`, `..`, or one of them with parameters. */
export function hasDotSegment(text: string): boolean {
  return text
    .replace(SCHEME, '')
    .split(/[/\\?#]/)
    .some((segment) => /^\.{1,2}(?:;|$)/.test(segment));
}

function isPlain(text: string): boolean {
  return !HIDING.test(text) && !hasDotSegment(text);
}

function readingsOf(text: string): string[] {
  const plain = lowerCaseAuthority(text);
  // To URL parsers and to Windows a backslash is a slash; to many file systems several slashes are one.
  const slashed = lowerCaseAuthority(text.replaceAll('\\', '/'));
  return [plain, slashed, withSingleSlashes(slashed)];
}

/** Scheme and host in lower case (RFC 3986, section 6.2.2.1); the rest is left as it is. */
function lowerCaseAuthority(text: string): string {
  const head = (AUTHORITY.exec(text) ?? SCHEME.exec(text))?.[0] ?? '';
  return head.toLowerCase() + text.slice(head.length);
}

/** `file://localhost/a` and `file:/a` name the same file as `file:///a` (RFC 8089, appendix B). */
function withSingleSlashes(text: string): string {
  const local = /^file:(?:\/\/localhost(?=\/)|\/\/(?=\/))?/.exec(text)?.[0];
  const head = local ?? AUTHORITY.exec(text)?.[0] ?? SCHEME.exec(text)?.[0] ?? '';
  const path = text.slice(head.length).replace(/^[^?#]*/, (all) => all.replace(/\/{2,}/g, '/'));
  return (local === undefined || !path.startsWith('/') ? head : 'file://') + path;
}

/** To whoever looks at the path alone, a query or a fragment behind it changes nothing. */
function withoutTail(text: string): string[] {
  const parts = [text.split('#', 1)[0] ?? '', text.split(/[?#]/, 1)[0] ?? ''];
  return parts.filter((part) => part.length < text.length);
}

/** Undefined where nothing sensible comes of it. What is no UTF-8 stays encoded. */
function decodeOnce(text: string): string | undefined {
  if (OVERLONG.test(text)) return undefined;
  return text.replace(ENCODED, (run) => {
    try {
      return decodeURIComponent(run);
    } catch {
      return run.replace(/%([0-7][0-9a-f])/gi, (_, hex: string) =>
        String.fromCharCode(Number.parseInt(hex, 16)),
      );
    }
  });
}
