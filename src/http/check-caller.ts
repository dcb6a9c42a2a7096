// Origin and Host, for Fastify: the first thing that is asked of a request, whatever its path or method.
import type { onRequestHookHandler } from 'fastify';
import { checkHost, checkOrigin, type OriginPolicy } from '../access/origin-policy.ts';
import { GatewayError } from '../errors.ts';
import { corsHeaders } from './cors.ts';

const ABSOLUTE_TARGET = /^https?:\/\/([^/?#]*)/i;

export function callerCheck(policy: OriginPolicy): onRequestHookHandler {
  return ({ edge, headers, raw }, _reply, done) => {
    edge.origin = checkOrigin(headers.origin, policy);
    edge.headers = corsHeaders(edge.origin);
    if (edge.origin.kind === 'refused') return done(new GatewayError('origin-refused'));
    // An absolute target stands above the Host header (RFC 9112, section 3.2.2).
    const host = ABSOLUTE_TARGET.exec(raw.url ?? '')?.[1] ?? headers.host;
    const verdict = checkHost(host, policy);
    if (verdict === 'allowed') return done();
    const code = verdict === 'refused' ? 'host-refused' : 'request-malformed';
    done(new GatewayError(code, { reason: 'host' }));
  };
}
