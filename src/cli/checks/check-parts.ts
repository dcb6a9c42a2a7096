// What checks of the doctor are made of: something to reach, and what was found there.
import type { Config } from '../../config/config.ts';
import type { Edition } from '../../lifecycle/edition.ts';
import type { LastingParts } from '../../lifecycle/lasting-parts.ts';
import type { LastWords } from './last-words.ts';
import { tlsTrouble } from './tls-trouble.ts';

/** What checks reach things with: the very parts that serving would use. */
export interface Surroundings {
  readonly config: Config;
  readonly edition: Edition;
  readonly lasting: LastingParts;
  readonly lastWords: LastWords;
}

export interface Check {
  readonly kind: 'issuer' | 'redis' | 'replica' | 'server';
  /** What is reached: a name or a URL without credentials. */
  readonly subject: string;
  /** Bounded by itself; never rejects. */
  run(): Promise<Finding>;
}

export interface Failure {
  readonly verdict: 'FAILED';
  readonly text: string;
  /** What to do about it. */
  readonly advice: string;
  /** Of a child process, on its standard error. */
  readonly lastWords?: readonly string[];
}

export type Finding = { readonly verdict: 'ok' | 'not tried'; readonly text: string } | Failure;

/** @param trust where the config names authorities for what was reached */
export function failed(thrown: unknown, advice: string, trust = 'gateway.outbound.ca'): Failure {
  return { verdict: 'FAILED', ...(tlsTrouble(thrown, trust) ?? { text: reasonOf(thrown), advice }) };
}

/** The words of an error, and of what caused it. */
function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const { message, cause } = thrown;
  const code = 'code' in thrown && typeof thrown.code === 'string' && message === '' ? thrown.code : message;
  return cause === undefined ? code : `${code}: ${reasonOf(cause)}`;
}
