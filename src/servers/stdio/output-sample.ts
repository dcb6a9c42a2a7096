// A child's words, made fit for our log: secrets masked, control characters gone, short. The mask comes before the
// cut, for half a secret is a secret that no mask finds.
import { createRedact, type Redact } from '../../telemetry/redaction.ts';

/** What is looked at; a line may be megabytes long. */
const MAX_SCANNED_CHARS = 4_096;
/** `name=value` and `name: value`, as programs print what they were given. */
const NAMED_SECRET =
  /((?:api[-_]?key|token|secret|passw(?:or)?d|authorization|credentials?|cookie)["']?\s*[:=]\s*["']?(?:(?:bearer|basic)\s+)?)[^\s"',;&]+/gi;

/** Makes one-line samples of what a process prints, without the values that it was given as `secrets`. */
export class OutputSampler {
  readonly #redact: Redact;

  constructor(secrets: readonly string[]) {
    this.#redact = createRedact(secrets);
  }

  /** At most `maxChars` characters, and one more that tells of a cut. */
  sample(text: string, maxChars: number): string {
    const masked = this.mask(text.slice(0, MAX_SCANNED_CHARS)).trim();
    const whole = masked.length <= maxChars && text.length <= MAX_SCANNED_CHARS;
    return whole ? masked : `${masked.slice(0, maxChars)}…`;
  }

  /** Line ends stay; all other control characters go, and so do terminal colours. */
  mask(text: string): string {
    const plain = text.replaceAll(/\p{Cc}\[[\d;]*m/gu, '').replaceAll(/(?!\n)\p{Cc}/gu, ' ');
    return this.#redact(plain).replaceAll(NAMED_SECRET, '$1[redacted]');
  }
}
