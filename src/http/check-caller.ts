// Origin and Host: the first thing that is asked of a request, whatever its path or method.
import type { FastifyRequest } from 'fastify';
import { checkHost, type HostPolicy } from '../access/host-policy.ts';
import { checkOrigin, type OriginPolicy } from '../access/origin-policy.ts';
import { GatewayError } from '../errors.ts';
import { corsHeaders } from './cors.ts';

const ABSOLUTE_TARGET = /^https?:\/\/([^/?#]*)/i;

/** @throws GatewayError origin-refused, host-refused, request-malformed */
export type CheckCaller = (request: FastifyRequest) => void;

export function callerCheck(origins: OriginPolicy, hosts: HostPolicy): CheckCaller {
  // Clients say the same Host each time, and what it is decides alone.
  let allowedHost: string | undefined;
  return ({ edge, headers, raw }) => {
    edge.origin = checkOrigin(headers.origin, origins);
    edge.headers = corsHeaders(edge.origin);
    if (edge.origin.kind === 'refused') throw new GatewayError('origin-refused');
    const isPlain = raw.url?.startsWith('/') === true;
    if (isPlain && headers.host !== undefined && headers.host === allowedHost) return;
    const problem = hostProblem(raw.url, headers.host, hosts);
    if (problem !== undefined) throw problem;
    if (isPlain) allowedHost = headers.host;
  };
}

/** An absolute target stands above the Host header (RFC 9112, section 3.2.2). */
export function hostProblem(
  target: string | undefined,
  header: string | undefined,
  policy: HostPolicy,
): GatewayError | undefined {
  const verdict = checkHost(ABSOLUTE_TARGET.exec(target ?? '')?.[1] ?? header, policy);
  if (verdict === 'allowed') return undefined;
  return new GatewayError(verdict === 'refused' ? 'host-refused' : 'request-malformed', { reason: 'host' });
}
