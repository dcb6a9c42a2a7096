// The one thing that a request is about, where it is about one: a tool, a prompt, a resource, a template of resources.
import type { ClientRequest } from '../protocol/client-message.ts';
import { isJsonObject } from '../protocol/json-text.ts';

export interface RequestSubject {
  readonly kind: 'tools' | 'prompts' | 'resources' | 'templates';
  /** Undefined where the request names it in no way that anything could be named. */
  readonly name: string | undefined;
  /** Whether it is to be used, rather than spoken of. */
  readonly isCall: boolean;
}

const CALLS: Readonly<Record<string, { kind: 'tools' | 'prompts' | 'resources'; member: 'name' | 'uri' }>> = {
  'tools/call': { kind: 'tools', member: 'name' },
  'prompts/get': { kind: 'prompts', member: 'name' },
  'resources/read': { kind: 'resources', member: 'uri' },
  'resources/subscribe': { kind: 'resources', member: 'uri' },
  'resources/unsubscribe': { kind: 'resources', member: 'uri' },
};

export function subjectOf({ method, params }: ClientRequest): RequestSubject | undefined {
  const call = Object.hasOwn(CALLS, method) ? CALLS[method] : undefined;
  if (call !== undefined) {
    return {
      kind: call.kind,
      name: textOf(params?.[call.member]),
      isCall: method !== 'resources/unsubscribe',
    };
  }
  return method === 'completion/complete' ? referenceOf(params?.ref) : undefined;
}

function referenceOf(ref: unknown): RequestSubject | undefined {
  if (!isJsonObject(ref)) return undefined;
  if (ref.type === 'ref/prompt') return { kind: 'prompts', name: textOf(ref.name), isCall: false };
  const uri = textOf(ref.uri);
  return { kind: uri?.includes('{') ? 'templates' : 'resources', name: uri, isCall: false };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
