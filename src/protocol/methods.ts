// The methods of each era: what a client may ask, and what each method means for the line that carries it.
import type { Era } from './era.ts';

const SHARED_METHODS = [
  'tools/list',
  'tools/call',
  'prompts/list',
  'prompts/get',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'completion/complete',
] as const;

const METHODS: Readonly<Record<Era, ReadonlySet<string>>> = {
  modern: new Set<string>([...SHARED_METHODS, 'server/discover', 'subscriptions/listen']),
  legacy: new Set<string>([
    ...SHARED_METHODS,
    'initialize',
    'ping',
    'resources/subscribe',
    'resources/unsubscribe',
    'logging/setLevel',
    'tasks/get',
    'tasks/result',
    'tasks/list',
    'tasks/cancel',
  ]),
};

/** Methods that answer from what a server has, rather than make it do something. */
const LISTS = new Set(['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list']);
/** The requests during which a server may need something of the client (2026-07-28, basic/patterns/mrtr). */
const PARKABLE = new Set(['tools/call', 'prompts/get', 'resources/read']);

export function isKnownMethod(era: Era, method: string): boolean {
  return METHODS[era].has(method);
}

export function isList(method: string): boolean {
  return LISTS.has(method);
}

export function isParkable(method: string): boolean {
  return PARKABLE.has(method);
}

const LABELS = new Set([
  ...METHODS.modern,
  ...METHODS.legacy,
  'notifications/initialized',
  'notifications/cancelled',
  'notifications/progress',
  'notifications/roots/list_changed',
]);

/** A method as a metric's label: its own name, or `other`; clients choose the rest, so it is never a label. */
export function methodLabel(method: string): string {
  return LABELS.has(method) ? method : 'other';
}
