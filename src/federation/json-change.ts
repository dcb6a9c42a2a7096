// Changes within parsed JSON that leave the rest alone: unknown members, the order of keys, numbers kept digit by digit.
// What does not change is the same object as before, since most messages hold nothing to be changed.
import { isJsonObject, type JsonObject, type JsonValue } from '../protocol/json-text.ts';

export type Maybe = JsonValue | undefined;
export type Change = (value: Maybe) => Maybe;

export function ifText(change: (text: string) => string): Change {
  return (value) => (typeof value === 'string' ? change(value) : value);
}

export function eachOf(change: Change): Change {
  return (values) => {
    if (!Array.isArray(values)) return values;
    const changed = values.map((value) => change(value) as JsonValue);
    return changed.some((value, index) => value !== values[index]) ? changed : values;
  };
}

export function oneOrEach(change: Change): Change {
  return (value) => (Array.isArray(value) ? eachOf(change)(value) : change(value));
}

export function changeMembers(holder: Maybe, change: Change): Maybe {
  if (!isJsonObject(holder)) return holder;
  const changed = Object.entries(holder).map(([key, value]) => [key, change(value)] as const);
  return changed.some(([key, value]) => value !== holder[key]) ? Object.fromEntries(changed) : holder;
}

export function changeMember(holder: Maybe, key: string, change: Change): Maybe {
  return isJsonObject(holder) ? withMember(holder, key, change) : holder;
}

export function withText(holder: JsonObject, key: string, change: (text: string) => string): JsonObject;
export function withText(holder: Maybe, key: string, change: (text: string) => string): Maybe;
export function withText(holder: Maybe, key: string, change: (text: string) => string): Maybe {
  return changeMember(holder, key, ifText(change));
}

export function withEach(holder: JsonObject, key: string, change: Change): JsonObject {
  return withMember(holder, key, eachOf(change));
}

export function withMember(holder: JsonObject, key: string, change: Change): JsonObject {
  if (!Object.hasOwn(holder, key)) return holder;
  const value = change(holder[key]);
  return value === holder[key] ? holder : { ...holder, [key]: value };
}
