// What the HTTP edge remembers of a request between its steps, on Fastify's request as `edge`.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Arrival } from '../access/limits/limit.ts';
import type { OriginVerdict } from '../access/origin-policy.ts';
import { ANONYMOUS, type Principal } from '../access/principal.ts';
import { type ExchangeRecord, newRecord } from '../telemetry/exchange-record.ts';
import { clientAddress } from './client-address.ts';
import { ResponseClose } from './response-close.ts';
import type { SignIn } from './sign-in.ts';

export interface EdgeContext {
  readonly record: ExchangeRecord;
  /** The request as limits see it. */
  readonly arrival: Arrival;
  /** Of its answer. */
  readonly close: ResponseClose;
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

const NO_HEADERS: readonly string[] = [];
const ABSENT: OriginVerdict = { kind: 'absent' };

export function newEdgeContext(request: FastifyRequest, { raw: response }: FastifyReply): EdgeContext {
  return {
    record: newRecord(request.id, performance.now()),
    arrival: new RequestArrival(request),
    close: new ResponseClose(response),
    isExchange: false,
    isOver: false,
    principal: ANONYMOUS,
    signIn: undefined,
    origin: ABSENT,
    headers: NO_HEADERS,
  };
}

/** A class, since V8 makes an object literal with a getter anew, map and all, for each request. */
class RequestArrival implements Arrival {
  storeFailed = false;
  readonly #request: FastifyRequest;
  #address: string | undefined;

  constructor(request: FastifyRequest) {
    this.#request = request;
  }

  /** Most requests are never asked for it. */
  get address(): string {
    this.#address ??= clientAddress(this.#request);
    return this.#address;
  }
}
