// What a rule speaks of: `*`, `server`, `server/tool-glob`, or `server/{tools|prompts|resources}/glob`, in the
// server's own names, before any prefix.
import { type Fault, fault } from '../../config/fault.ts';
import { isSlug } from '../../config/slug.ts';
import { Glob } from './glob.ts';
import { hasDotSegment, readUri, readUriPattern, readUriTemplate } from './resource-uri.ts';

export type TargetKind = 'tools' | 'prompts' | 'resources';
export const TARGET_KINDS: readonly TargetKind[] = ['tools', 'prompts', 'resources'];

/** A thing that somebody may or may not use, as patterns look at it. */
export interface AccessTarget {
  readonly kind: TargetKind;
  /** How it may be read: a grant holds for all of these, a refusal for any of those. */
  readonly granted: readonly string[];
  readonly refused: readonly string[];
}

const MAX_CHARACTERS = 512;
const MAX_NAME_CHARACTERS = 4_096;
const PARTS = /^([^/]*)(?:\/(?:(tools|prompts|resources)\/)?(.*))?$/s;

/** Undefined for what no rule is even asked about. */
export function readTarget(kind: TargetKind, name: string): AccessTarget | undefined {
  if (kind === 'resources') {
    const readings = readUri(name);
    return readings && { kind, ...readings };
  }
  return name.length > MAX_NAME_CHARACTERS ? undefined : { kind, granted: [name], refused: [name] };
}

/** A template of resources: only what all its URIs begin with is known. */
export function readTemplate(template: string): AccessTarget | undefined {
  const beginnings = readUriTemplate(template);
  return beginnings && { kind: 'resources', granted: beginnings, refused: beginnings };
}

export class TargetPattern {
  readonly text: string;
  /** Undefined: every server. */
  readonly server: string | undefined;
  /** Undefined: everything of the server. */
  readonly kind: TargetKind | undefined;
  /** One pattern in its spellings; none where all of the kind is meant. */
  readonly #globs: readonly Glob[];

  constructor(text: string, server: string | undefined, within?: { kind: TargetKind; glob: string }) {
    this.text = text;
    this.server = server;
    this.kind = within?.kind;
    const spellings = within?.kind === 'resources' ? readUriPattern(within.glob) : [within?.glob ?? '**'];
    this.#globs = spellings.map((spelling) => new Glob(spelling));
  }

  /** Whether it says anything about that server, or that kind of thing there. */
  concerns(server: string, kind?: TargetKind): boolean {
    if (this.server !== undefined && this.server !== server) return false;
    return kind === undefined || this.kind === undefined || this.kind === kind;
  }

  grants({ granted }: AccessTarget): boolean {
    return granted.every((reading) => this.#globs.some((glob) => glob.matches(reading)));
  }

  refuses({ refused }: AccessTarget): boolean {
    return refused.some((reading) => this.#globs.some((glob) => glob.matches(reading)));
  }

  /** Whether it could grant something that begins so. */
  couldGrant({ granted }: AccessTarget): boolean {
    return granted.every((reading) => this.#globs.some((glob) => glob.couldMatch(reading)));
  }

  /** Whether it refuses everything that begins so. */
  refusesAll({ refused }: AccessTarget): boolean {
    return refused.some((reading) => this.#globs.some((glob) => glob.coversAll(reading)));
  }

  /** Whether it refuses whatever `other` grants of a kind that both speak of, as far as the two alone can tell. */
  outweighs(other: TargetPattern): boolean {
    if (this.text === other.text) return true;
    return other.#globs.every((glob) =>
      this.#globs.some((own) =>
        glob.isLiteral ? own.matches(glob.text) : own.coversAll(glob.literalPrefix),
      ),
    );
  }
}

/** The parts of a target, as far as they are there; `*` is no server. */
export function splitTarget(text: string): { server: string; kind: TargetKind; name: string | undefined } {
  const [, server = '', kind = 'tools', name] = PARTS.exec(text) ?? [];
  return { server, kind: kind as TargetKind, name };
}

export function parseTargetPattern(text: string): TargetPattern | Fault {
  if (text === '*') return new TargetPattern(text, undefined);
  const { server, kind, name: glob } = splitTarget(text);
  if (text.length > MAX_CHARACTERS) return fault(`a target has at most ${MAX_CHARACTERS} characters`, '');
  if (text !== text.trim()) return fault('a target neither begins nor ends with a space', 'Remove it.');
  if (!isSlug(server)) {
    return fault(
      'expected *, server, server/tool, or server/{tools|prompts|resources}/name',
      'The server is written as in its path, /mcp/{server}; only what stands behind it may have stars.',
    );
  }
  if (glob === undefined) return new TargetPattern(text, server);
  if (glob === '') return fault('nothing stands behind the last slash', `Write ${text}** for everything.`);
  if (kind === 'resources' && hasDotSegment(glob)) {
    return fault(
      'no URI with dot segments is ever granted, so this matches nothing',
      'Write the plain path.',
    );
  }
  return new TargetPattern(text, server, { kind, glob });
}
