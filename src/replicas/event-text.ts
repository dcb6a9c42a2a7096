// News among replicas as they go through Redis: signed, for a minute. Pure.
import { isJsonObject } from '../protocol/json-text.ts';
import { CLOCK_TOLERANCE_MS } from './envelope.ts';
import type { ReplicaEvent } from './replicas.ts';
import { openText, signText } from './signed-text.ts';

const VERSION = 1;

export function sealEvent(
  event: ReplicaEvent,
  { from, key, now }: { from: string; key: Buffer; now: number },
): string {
  return signText({ v: VERSION, from, at: now, event }, key);
}

/** Undefined for what is not from a replica of this secret, is old, or is of a kind that this version does not know. */
export function openEvent(
  text: string,
  { key, now }: { key: Buffer; now: number },
): { readonly event: ReplicaEvent; readonly from: string } | undefined {
  const value = openText(text, key);
  if (!isJsonObject(value) || value.v !== VERSION) return undefined;
  const { from, at, event } = value;
  if (typeof from !== 'string' || typeof at !== 'number' || !isJsonObject(event)) return undefined;
  if (Math.abs(now - at) > CLOCK_TOLERANCE_MS || !isEvent(event)) return undefined;
  return { event, from };
}

function isEvent(event: Record<string, unknown>): event is ReplicaEvent {
  const { kind, key, owner, server, method, person, issuer } = event;
  if (kind === 'session-ended') return typeof key === 'string';
  if (kind === 'session-moved') return typeof key === 'string' && typeof owner === 'string';
  if (kind === 'list-changed') {
    const isForAll = person === undefined || typeof person === 'string';
    return typeof server === 'string' && typeof method === 'string' && isForAll;
  }
  if (kind === 'keys-changed') return typeof issuer === 'string';
  return kind === 'replica-joined' || kind === 'replica-left';
}
