// What of a server's tools clients get to see, and in which words, as the rest of the code sees it.
import type { JsonObject } from '../protocol/json-text.ts';

export interface ToolSelection {
  /** Globs of the server's own names; `*` alone stands for all. */
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

export interface ToolOverride {
  readonly name?: string;
  readonly description?: string;
  /** In place of all that the server gives. */
  readonly annotations?: JsonObject;
}

/** By the server's own names. */
export type ToolOverrides = Readonly<Record<string, ToolOverride>>;
