// Limits, and requests for them, made of what a test says and defaults.
import assert from 'node:assert/strict';
import type { Arrival, LimitedRequest } from '../../../src/access/limits/limit.ts';
import { ANONYMOUS, type Principal } from '../../../src/access/principal.ts';
import type { LimitConfig } from '../../../src/config/limits-config.ts';
import { GatewayError } from '../../../src/errors.ts';

export function person(subject: string): Principal {
  return { ...ANONYMOUS, issuer: 'https://idp.example', subject, clientId: 'client', groups: ['eng'] };
}

export function limitConfig(changes: Partial<LimitConfig> = {}): LimitConfig {
  return {
    name: 'limit',
    key: ['principal'],
    match: '*',
    max: 3,
    windowMs: 60_000,
    inFlight: undefined,
    cost: undefined,
    lease: undefined,
    ...changes,
  };
}

export function limitedRequest(changes: Partial<LimitedRequest> = {}): LimitedRequest {
  return {
    arrival: arrival(),
    principal: person('alice'),
    server: 'docs',
    target: { kind: 'tools', name: 'echo' },
    cost: 'call',
    isEndless: false,
    ...changes,
  };
}

export function arrival(address = '192.0.2.1'): Arrival {
  return { address, storeFailed: false };
}

/** `admitted`, or `name of the limit: milliseconds`. */
export async function verdict(admission: Promise<unknown>): Promise<string> {
  try {
    await admission;
    return 'admitted';
  } catch (thrown) {
    assert.ok(thrown instanceof GatewayError && thrown.code === 'rate-limited', String(thrown));
    return `${thrown.details.reason}: ${thrown.details.retryAfterMs}`;
  }
}
