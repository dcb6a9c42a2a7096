// A server's tools as clients get to see them, list by list: worked out once for as long as the list is what it is.
import type { JsonObject } from '../protocol/json-text.ts';
import type { TargetTable } from './server-catalogue.ts';
import type { ToolShape } from './tool-shape.ts';

const SHOWN = new WeakMap<readonly JsonObject[], WeakMap<ToolShape, readonly JsonObject[]>>();

/**
 * @param table the whole list, which decides about names
 * @param tools of it, in the server's own names; the same array gives the same array
 */
export function shownTools(
  shape: ToolShape,
  table: TargetTable,
  tools: readonly JsonObject[],
): readonly JsonObject[] {
  if (shape.isPlain) return tools;
  const byShape = SHOWN.get(tools) ?? new WeakMap<ToolShape, readonly JsonObject[]>();
  SHOWN.set(tools, byShape);
  const reviewed = shape.review(table);
  const shown =
    byShape.get(shape) ?? tools.map((tool) => reviewed.present(tool)).filter((tool) => tool !== undefined);
  byShape.set(shape, shown);
  return shown;
}
