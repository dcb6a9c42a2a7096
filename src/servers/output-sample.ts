// A child's words, made fit for our log: secrets masked, control characters gone, short. The mask comes before the
// cut, for half a secret is a secret that no mask finds.

const MASK = '[masked]';
/** Shorter values are words like "info", and masking them would only spoil the sample. */
const MIN_SECRET_LENGTH = 6;
/** What is looked at; a line may be megabytes long. */
const MAX_SCANNED_CHARS = 4_096;

const CREDENTIALS: readonly (readonly [RegExp, string])[] = [
  [/\b(bearer)\s+[\w.~+/=-]+/gi, `$1 ${MASK}`],
  // A digit or a sign tells base64 from "basic settings".
  [/\b(basic)\s+(?=\S*[\d+/=])[\w+/=-]+/gi, `$1 ${MASK}`],
  [
    /((?:api[-_]?key|token|secret|passw(?:or)?d|authorization|credentials?|cookie)["']?\s*[:=]\s*["']?)[^\s"',;&]+/gi,
    `$1${MASK}`,
  ],
  [/(:\/\/)[^\s/@]+@/g, `$1${MASK}@`],
  [/\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g, MASK],
];

/** Makes one-line samples of what a process prints, without the values that it was given as `secrets`. */
export class OutputSampler {
  readonly #secrets: readonly string[];

  constructor(secrets: Iterable<string>) {
    this.#secrets = [...new Set(secrets)]
      .filter((value) => value.length >= MIN_SECRET_LENGTH)
      .sort((a, b) => b.length - a.length);
  }

  /** At most `maxChars` characters, and one more that tells of a cut. */
  sample(text: string, maxChars: number): string {
    const masked = this.mask(text.slice(0, MAX_SCANNED_CHARS)).trim();
    const whole = masked.length <= maxChars && text.length <= MAX_SCANNED_CHARS;
    return whole ? masked : `${masked.slice(0, maxChars)}…`;
  }

  /** Line ends stay, all other control characters and terminal colours go. */
  mask(text: string): string {
    let masked = text.replaceAll(/\p{Cc}\[[\d;]*m/gu, '').replaceAll(/(?!\n)\p{Cc}/gu, ' ');
    for (const secret of this.#secrets) masked = masked.replaceAll(secret, MASK);
    for (const [pattern, replacement] of CREDENTIALS) masked = masked.replaceAll(pattern, replacement);
    return masked;
  }
}
