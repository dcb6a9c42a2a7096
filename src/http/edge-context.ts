// What the HTTP edge remembers of a request between its steps, on Fastify's request as `edge`.
import type { FastifyRequest } from 'fastify';
import type { Arrival } from '../access/limits/limit.ts';
import type { OriginVerdict } from '../access/origin-policy.ts';
import { ANONYMOUS, type Principal } from '../access/principal.ts';
import { type ExchangeRecord, newRecord } from '../telemetry/exchange-record.ts';
import { clientAddress } from './client-address.ts';
import type { SignIn } from './sign-in.ts';

export interface EdgeContext {
  readonly record: ExchangeRecord;
  /** The request as limits see it. */
  readonly arrival: Arrival;
  /** True once the record is going to be settled. */
  isExchange: boolean;
  /** True once the exchange has ended: nothing more is done by the token that it came with. */
  isOver: boolean;
  principal: Principal;
  /** What the principal signed in with. */
  signIn: SignIn | undefined;
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
    arrival: newArrival(request),
    isExchange: false,
    isOver: false,
    principal: ANONYMOUS,
    signIn: undefined,
    origin: { kind: 'absent' },
    headers: [],
  };
}

function newArrival(request: FastifyRequest): Arrival {
  let address: string | undefined;
  return {
    // Most requests are never asked for it.
    get address() {
      address ??= clientAddress(request);
      return address;
    },
    storeFailed: false,
  };
}
