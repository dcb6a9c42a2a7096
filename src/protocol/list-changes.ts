// The kinds of lists that may change: the capability that promises word of it, the filter member by which a modern
// client asks for it, and the notification that brings it.
import { isJsonObject, type JsonObject } from './json-text.ts';

export const LIST_CHANGES = [
  { capability: 'tools', filter: 'toolsListChanged', method: 'notifications/tools/list_changed' },
  { capability: 'prompts', filter: 'promptsListChanged', method: 'notifications/prompts/list_changed' },
  { capability: 'resources', filter: 'resourcesListChanged', method: 'notifications/resources/list_changed' },
] as const;
export type ListChange = (typeof LIST_CHANGES)[number];

/** The kinds of which a server with those capabilities promises to tell. */
export function promisedListChanges(capabilities: JsonObject): ListChange[] {
  return LIST_CHANGES.filter(({ capability }) => {
    const offered = capabilities[capability];
    return isJsonObject(offered) && offered.listChanged === true;
  });
}
