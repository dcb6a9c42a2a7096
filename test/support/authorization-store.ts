// What the authorization server remembers: clients, grants, tokens, sessions. In this process alone, but across a
// change of its keys.
import type { Adapter, AdapterPayload } from 'oidc-provider';

/** One adapter a model, all of them on one memory. The provider itself sees to what has expired. */
export function authorizationStore(): (model: string) => Adapter {
  const entries = new Map<string, AdapterPayload>();
  return (model) => {
    const keyOf = (id: string) => `${model}:${id}`;
    const firstWith = (isIt: (payload: AdapterPayload) => boolean) =>
      [...entries].find(([key, payload]) => key.startsWith(keyOf('')) && isIt(payload))?.[1];
    return {
      find: async (id) => entries.get(keyOf(id)),
      findByUid: async (uid) => firstWith((payload) => payload.uid === uid),
      findByUserCode: async (userCode) => firstWith((payload) => payload.userCode === userCode),
      async upsert(id, payload) {
        entries.set(keyOf(id), payload);
      },
      async consume(id) {
        const payload = entries.get(keyOf(id));
        if (payload !== undefined) payload.consumed = Math.floor(Date.now() / 1000);
      },
      async destroy(id) {
        entries.delete(keyOf(id));
      },
      async revokeByGrantId(grantId) {
        for (const [key, payload] of entries) if (payload.grantId === grantId) entries.delete(key);
      },
    };
  };
}
