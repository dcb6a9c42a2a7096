// The task that a message of a 2025-11-25 server says it belongs to (basic/utilities/tasks, "Associating Task-Related
// Messages").
import { isJsonObject, type JsonObject } from '../protocol/json-text.ts';

export const RELATED_TASK = 'io.modelcontextprotocol/related-task';

export function relatedTask({ params }: { readonly params?: JsonObject | undefined }): string | undefined {
  const related = isJsonObject(params?._meta) ? params._meta[RELATED_TASK] : undefined;
  return isJsonObject(related) && typeof related.taskId === 'string' ? related.taskId : undefined;
}
