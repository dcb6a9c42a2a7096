// What one caller may do at one server: the one question that every list, call and event is put to.
import type { JsonObject } from '../../protocol/json-text.ts';
import type { TargetKind } from './target-pattern.ts';

export type Decision =
  | ({ readonly verdict: 'allowed' | 'absent' } & DecidedBy)
  /** Visible, but a condition says no; `failed` where it could not be judged. */
  | ({ readonly verdict: 'refused'; readonly failed: boolean } & DecidedBy)
  /** Visible, but the call needs all of these. */
  | ({ readonly verdict: 'needs-scope'; readonly scopes: readonly string[] } & DecidedBy);

export interface DecidedBy {
  /** The rule that decided, and its target; none where no rule grants. */
  readonly rule?: string;
  readonly target?: string;
}

/** What is known of a thing only once it is called. */
export interface CallFacts {
  readonly arguments: JsonObject;
}

export interface ServerAccess {
  /** False where nobody signs in: everything is allowed, nothing is filtered. */
  readonly enforced: boolean;
  /** Everything of the server, now and whatever it may gain. */
  readonly whole: boolean;
  /** Two callers with the same text here may do the same. */
  readonly rights: string;
  /** Scopes of the caller's that mean something here; a client that forgets them needs to be told again. */
  readonly heldScopes: readonly string[];
  /** Whether anything of the server, or of that kind there, could be visible. */
  sees(kind?: TargetKind): boolean;
  /** Without `call`, whether it is visible at all: conditions and step-up scopes are for calls. */
  decide(kind: TargetKind, name: string, call?: CallFacts): Decision;
  /** Whether a template of resources is listed. */
  listsTemplate(template: string): boolean;
  /** What decides, for people: of everything here, or of one thing. */
  describe(about?: NamedThing): AccessDescription;
}

export interface NamedThing {
  readonly kind: TargetKind;
  readonly name: string;
}

export interface AccessDescription {
  readonly allows: readonly DescribedClause[];
  readonly denies: readonly DescribedClause[];
  /** Scopes that calls need besides, and which the caller lacks. */
  readonly missing: readonly { readonly target: string; readonly scopes: readonly string[] }[];
}

export interface DescribedClause {
  readonly rule: string;
  readonly target: string;
  readonly condition: string | undefined;
}

export const NO_ACCESS_AT_ALL: ServerAccess = {
  enforced: true,
  whole: false,
  rights: '',
  heldScopes: [],
  sees: () => false,
  decide: () => ({ verdict: 'absent' }),
  listsTemplate: () => false,
  describe: () => ({ allows: [], denies: [], missing: [] }),
};

export const OPEN_ACCESS: ServerAccess = {
  enforced: false,
  whole: true,
  rights: '',
  heldScopes: [],
  sees: () => true,
  decide: () => ({ verdict: 'allowed' }),
  listsTemplate: () => true,
  describe: () => ({
    allows: [{ rule: 'no sign-in', target: '*', condition: undefined }],
    denies: [],
    missing: [],
  }),
};
