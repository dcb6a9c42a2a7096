// What the HTTP edge remembers of a request between its steps, on Fastify's request as `edge`.
import type { FastifyRequest } from 'fastify';
import type { OriginVerdict } from '../access/origin-policy.ts';
import { ANONYMOUS, type Principal } from '../access/principal.ts';
import { type ExchangeRecord, newRecord } from '../telemetry/exchange-record.ts';

export interface EdgeContext {
  readonly record: ExchangeRecord;
  /** True once the record is going to be settled. */
  isExchange: boolean;
  principal: Principal;
  origin: OriginVerdict;
  /** Headers that every answer to this request carries: name and value in turn. */
  headers: readonly string[];
}

declare module 'fastify' {
  interface FastifyRequest {
    edge: EdgeContext;
  }
}

export function newEdgeContext(request: FastifyRequest): EdgeContext {
  return {
    record: newRecord(request.id, performance.now()),
    isExchange: false,
    principal: ANONYMOUS,
    origin: { kind: 'absent' },
    headers: [],
  };
}
