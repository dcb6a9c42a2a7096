// The task that a message of a 2025-11-25 server says it belongs to (basic/utilities/tasks, "Associating Task-Related
// Messages").
import { isJsonObject, type JsonObject } from '../../protocol/json-text.ts';

export const RELATED_TASK = 'io.modelcontextprotocol/related-task';

/** The server's own id of the task. */
export function relatedTask({ params }: { readonly params?: JsonObject | undefined }): string | undefined {
  const related = isJsonObject(params?._meta) ? params._meta[RELATED_TASK] : undefined;
  return isJsonObject(related) && typeof related.taskId === 'string' ? related.taskId : undefined;
}

/** Params, or a result, as they belong to the task. */
export function withRelatedTask(holder: JsonObject, taskId: string): JsonObject {
  const meta = isJsonObject(holder._meta) ? holder._meta : {};
  return { ...holder, _meta: { ...meta, [RELATED_TASK]: { taskId } } };
}

/** The same for whoever knows no tasks. */
export function withoutRelatedTask(holder: JsonObject): JsonObject {
  if (!isJsonObject(holder._meta) || !(RELATED_TASK in holder._meta)) return holder;
  const { _meta, ...rest } = holder;
  const { [RELATED_TASK]: _related, ...meta } = _meta;
  return Object.keys(meta).length === 0 ? rest : { ...rest, _meta: meta };
}
