// One server's tools as clients are to see them: which exist, under which names and in which words. It stands before
// any access rule and is the same for everybody; rules, limits and logs go on with the server's own names.
import { isDeepStrictEqual } from 'node:util';
import { Glob } from '../access/rules/glob.ts';
import type { ServerConfig } from '../config/config.ts';
import type { ToolOverride } from '../config/shape-config.ts';
import type { PinnedTools } from '../config/tool-lock.ts';
import type { JsonObject } from '../protocol/json-text.ts';
import type { TargetTable } from './server-catalogue.ts';
import type { ShapeFindings } from './shape-findings.ts';
import { type PinDifference, ToolPins } from './tool-pins.ts';

/** A whole list of tools, held against the config. */
export interface ReviewedTools {
  /** Whether the list has a tool of that name, the server's own, that is there for clients. */
  has(own: string): boolean;
  /** Whether the list has another tool that would have its name. */
  isClashing(own: string): boolean;
  /** Whether the list has the tool as it is here. A server need not say that its list has changed. */
  knows(tool: JsonObject): boolean;
  /**
   * A tool as clients see it; undefined where there is none for them.
   *
   * @param tool as the server defines it, in the list that was reviewed or in a later one
   */
  present(tool: JsonObject): JsonObject | undefined;
}

export type PinState = 'approved' | PinDifference['problem'];

export interface ToolShapeOptions extends Pick<ServerConfig, 'tools' | 'overrides'> {
  readonly findings: ShapeFindings;
  /** Undefined: tools are what the server says that they are. */
  readonly pins: { readonly mode: 'enforce' | 'warn'; readonly approved: PinnedTools } | undefined;
}

export class ToolShape {
  readonly findings: ShapeFindings;
  readonly #pins: { readonly mode: 'enforce' | 'warn'; readonly tools: ToolPins } | undefined;
  readonly #allow: readonly Glob[];
  readonly #deny: readonly Glob[];
  readonly #overrides: ReadonlyMap<string, ToolOverride>;
  /** Who would have a name that an override gives. */
  readonly #renamed: ReadonlyMap<string, readonly string[]>;
  readonly #reviewed = new WeakMap<TargetTable, ReviewedTools>();
  /** Nothing of the server's is left out, changed or held against anything. */
  readonly isPlain: boolean;

  constructor({ tools, overrides, findings, pins }: ToolShapeOptions) {
    this.findings = findings;
    this.#pins = pins && { mode: pins.mode, tools: new ToolPins(pins.approved) };
    this.#allow = tools.allow.map(globOf);
    this.#deny = tools.deny.map(globOf);
    this.#overrides = new Map(Object.entries(overrides.tools));
    const allowsAll = this.#allow.some(({ text }) => text === '**');
    const isWhole = allowsAll && this.#deny.length === 0;
    this.isPlain = isWhole && this.#overrides.size === 0 && this.#pins === undefined;
    const existing = [...this.#overrides.keys()].filter((own) => this.exists(own));
    this.#renamed = Map.groupBy(existing, (own) => this.#shownName(own));
  }

  /** The server's own name of the tool that clients call so; undefined where none can be called so. */
  ownName(shown: string): string | undefined {
    if (this.isPlain) return shown;
    const [own = shown, ...others] = this.#renamed.get(shown) ?? [];
    if (others.length > 0 || !this.exists(own) || this.#shownName(own) !== shown) return undefined;
    return own;
  }

  /** Annotations of a tool that rules may believe: the operator's, never the server's. */
  annotationsOf(own: string): JsonObject {
    return this.#overrides.get(own)?.annotations ?? this.#pins?.tools.annotationsOf(own) ?? {};
  }

  /**
   * Holds the whole list of a link against the config, and tells the operator what does not fit. A list that was
   * reviewed before is not reviewed again.
   */
  review(table: TargetTable): ReviewedTools {
    const known = this.#reviewed.get(table);
    if (known !== undefined) return known;
    const clashing = this.#clashing(table);
    const there = new Set<string>();
    const reviewed: ReviewedTools = {
      has: (own) => there.has(own),
      isClashing: (own) => clashing.has(own),
      knows: (tool) => isDeepStrictEqual(table.get(String(tool.name)), tool),
      present: (tool) => this.#present(tool, clashing),
    };
    this.#reviewed.set(table, reviewed);
    this.findings.note({
      missing: [...this.#overrides.keys()].filter((own) => !table.has(own)),
      clashing: [...clashing],
    });
    this.findings.keepOnly((own) => table.has(own));
    for (const [own, tool] of table) {
      if (reviewed.present(tool) !== undefined) there.add(own);
    }
    return reviewed;
  }

  #present(tool: JsonObject, clashing: ReadonlySet<string>): JsonObject | undefined {
    const { name: own } = tool;
    if (typeof own !== 'string' || !this.exists(own) || clashing.has(own)) return undefined;
    if (!this.#isApproved(own, tool)) return undefined;
    const override = this.#overrides.get(own);
    return override === undefined ? tool : { ...tool, ...override };
  }

  /** How a tool as the server defines it stands to what was approved; undefined where nothing has to be. */
  pinOf(own: string, tool: JsonObject): PinState | undefined {
    if (this.#pins === undefined) return undefined;
    return this.#pins.tools.differenceOf(own, tool)?.problem ?? 'approved';
  }

  /** Whether it may be served: it is as it was approved, or the difference is only to be spoken of. */
  #isApproved(own: string, tool: JsonObject): boolean {
    if (this.#pins === undefined) return true;
    const { mode, tools } = this.#pins;
    const difference = tools.differenceOf(own, tool);
    if (difference === undefined) this.findings.noteApproved(own);
    else this.findings.noteDifference(difference, mode);
    return difference === undefined || mode === 'warn';
  }

  /** Two tools of one name would be told apart by nobody, so both are left out. */
  #clashing(table: TargetTable): ReadonlySet<string> {
    const existing = [...table.keys()].filter((own) => this.exists(own));
    const byShownName = Map.groupBy(existing, (own) => this.#shownName(own));
    return new Set([...byShownName.values()].filter(({ length }) => length > 1).flat());
  }

  /** Whether the config lets a tool of that name, the server's own, exist. */
  exists(own: string): boolean {
    const isNamed = (glob: Glob) => glob.matches(own);
    return this.#allow.some(isNamed) && !this.#deny.some(isNamed);
  }

  #shownName(own: string): string {
    return this.#overrides.get(own)?.name ?? own;
  }
}

/** Alone, a star stands for every name, as it does for every target of a rule. */
function globOf(text: string): Glob {
  return new Glob(text === '*' ? '**' : text);
}
