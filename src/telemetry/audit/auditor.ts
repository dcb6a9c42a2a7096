// What stands in the audit log: one record a call, and one a refused sign-in. Built from the record of the exchange
// and what is known of its caller, so that no token, session id, body or result can be in it.
import { hash } from 'node:crypto';
import type { AuditConfig } from '../../config/audit-config.ts';
import type { JsonValue } from '../../protocol/json-text.ts';
import type { ExchangeRecord } from '../exchange-record.ts';
import { roundedMs } from '../rounded-ms.ts';
import { type AuditLog, timeText } from './audit-log.ts';
import { type AuditedArgumentsOptions, auditedArguments } from './audited-arguments.ts';
import { createTextDigest } from './text-digest.ts';

/** The caller, as far as it is to be known who it was. */
export interface AuditedCaller {
  readonly issuer: string;
  readonly subject: string;
  readonly clientId: string;
  readonly tokenId: string | undefined;
  readonly claims: Readonly<Record<string, unknown>>;
}

export interface AuditedCall {
  readonly caller: AuditedCaller;
  readonly address: string;
  /** The `Mcp-Session-Id`; only the beginning of its hash is written. */
  readonly sessionId: string | undefined;
  readonly traceId: string | undefined;
  readonly arguments: JsonValue | undefined;
  readonly outcome: string;
  readonly reason: string | undefined;
  /** Milliseconds from the request to its result, whether or not anybody waited for it. */
  readonly totalMs: number;
}

/** Refused sign-ins a second that are written one by one: whoever has no token must not be able to fill the disk. */
const MAX_DENIALS_A_SECOND = 20;
const MAX_ACTORS = 8;
const MAX_TEXT = 256;
const SESSION_TEXT_LENGTH = 22;

/** Outcomes that mean that somebody was not let in. */
const DENIALS: ReadonlySet<string> = new Set([
  'token-missing',
  'token-invalid',
  'origin-refused',
  'host-refused',
  'issuer-unavailable',
]);

export class Auditor {
  readonly #log: AuditLog;
  readonly #kept: AuditedArgumentsOptions;
  readonly #now: () => number;
  #second = 0;
  #denials = 0;
  #suppressed = 0;

  constructor(log: AuditLog, config: AuditConfig, now: () => number = Date.now) {
    this.#log = log;
    this.#kept = { kept: config.arguments, digest: createTextDigest(config.key) };
    this.#now = now;
  }

  /** @throws GatewayError audit-unavailable where calls must be on record and cannot be */
  requireWritable(): void {
    this.#log.requireWritable();
  }

  noteCall(record: ExchangeRecord, call: AuditedCall): void {
    const { clientInfo } = record;
    const { caller } = call;
    const { claims } = caller;
    const nowMs = this.#now();
    // One literal: objects spread into one another cost more than all that is in them.
    this.#log.writeLater(() => ({
      time: timeText(nowMs),
      kind: 'call',
      id: record.id,
      outcome: call.outcome,
      reason: call.reason,
      issuer: text(caller.issuer),
      subject: text(caller.subject),
      client: text(caller.clientId),
      // The name that the issuer gave the token, else a hash of it.
      tokenId: text(claims.jti) ?? caller.tokenId,
      actors: actorsOf(claims.act),
      clientInfo: clientInfo && { name: text(clientInfo.name), version: text(clientInfo.version) },
      ip: call.address,
      era: record.era,
      version: record.protocolVersion,
      view: record.view,
      server: record.server,
      method: record.method,
      target: targetText(record.target),
      rule: record.rule,
      arguments: auditedArguments(call.arguments, this.#kept).arguments,
      isError: record.isError,
      answerBytes: record.answerBytes,
      queueMs: roundedMs(record.queueMs),
      upstreamMs: roundedMs(record.upstreamMs),
      totalMs: roundedMs(call.totalMs),
      traceId: call.traceId,
      session: sessionText(record.sessionKey, call.sessionId),
    }));
  }

  /** Notes an exchange that ended because its caller was not let in; others are not for here. */
  noteDenial(record: ExchangeRecord): void {
    if (!DENIALS.has(record.outcome ?? '')) return;
    const second = Math.floor(this.#now() / 1_000);
    if (second !== this.#second) [this.#second, this.#denials] = [second, 0];
    if (this.#denials >= MAX_DENIALS_A_SECOND) {
      this.#suppressed += 1;
      return;
    }
    this.#denials += 1;
    const suppressed = this.#suppressed;
    this.#suppressed = 0;
    this.#log.write({
      time: timeText(this.#now()),
      kind: 'denied',
      id: record.id,
      outcome: record.outcome,
      reason: record.reason,
      ip: record.address,
      view: record.view,
      status: record.httpStatus,
      suppressed: suppressed === 0 ? undefined : suppressed,
    });
  }
}

/** Who acts for the subject, the last one first (RFC 8693, section 4.1). */
function actorsOf(act: unknown): string[] | undefined {
  const actors: string[] = [];
  let at: unknown = act;
  while (typeof at === 'object' && at !== null && actors.length < MAX_ACTORS) {
    const { sub, act: next } = at as { sub?: unknown; act?: unknown };
    actors.push(text(sub) ?? '');
    at = next;
  }
  return actors.length === 0 ? undefined : actors;
}

/** Strings alone, and not without end. */
function text(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '') return undefined;
  return value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT)}...` : value;
}

/** What is cut off would tell two long URIs apart, so its place is taken by a digest of the whole. */
function targetText(target: string | undefined): string | undefined {
  const shown = text(target);
  if (target === undefined || shown === target) return shown;
  return `${shown} sha256:${hash('sha256', target, 'hex')}`;
}

/** @param sessionKey the hash of `sessionId` where it has been made already: each costs a call some 1 us */
function sessionText(sessionKey: string | undefined, sessionId: string | undefined): string | undefined {
  if (sessionId === undefined) return undefined;
  return (sessionKey ?? hash('sha256', sessionId, 'base64url')).slice(0, SESSION_TEXT_LENGTH);
}
