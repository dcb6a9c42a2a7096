// Who may see more of the admin listener than its probes.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { onRequestHookHandler } from 'fastify';
import { adminHostPolicy } from '../access/host-policy.ts';
import { isLoopbackHost } from '../config/addresses.ts';
import type { GatewayConfig } from '../config/config.ts';
import { GatewayError } from '../errors.ts';
import { hostProblem } from './check-caller.ts';

type AdminConfig = NonNullable<GatewayConfig['admin']>;

const HOST_REFUSED = 'This Host is not allowed here; see gateway.admin.hosts';

/** Host and Origin: a page of another site must not reach this through the operator's browser. */
export function adminCallerCheck({ hosts }: AdminConfig): onRequestHookHandler {
  const policy = adminHostPolicy(hosts);
  return ({ headers, raw }, _reply, done) => {
    const { host = '', origin } = headers;
    const isSameOrigin = origin === `http://${host}` || origin === `https://${host}`;
    if (origin !== undefined && !isSameOrigin) {
      return done(new GatewayError('origin-refused', { text: 'This Origin is not allowed here' }));
    }
    const problem = hostProblem(raw.url, headers.host, policy);
    const isRefused = problem?.code === 'host-refused';
    done(isRefused ? new GatewayError('host-refused', { text: HOST_REFUSED }) : problem);
  };
}

/** The bearer token: needed off loopback, and wherever one is configured. */
export function adminTokenCheck({ host, token }: AdminConfig): onRequestHookHandler {
  const isOpen = token === undefined && isLoopbackHost(host);
  return ({ headers }, _reply, done) => {
    if (isOpen) return done();
    const sent = /^bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
    if (sent === undefined) return done(new GatewayError('token-missing'));
    done(token !== undefined && isEqual(sent, token) ? undefined : new GatewayError('token-invalid'));
  };
}

/** In a time that tells nothing of either text, its length included. */
function isEqual(left: string, right: string): boolean {
  return timingSafeEqual(digestOf(left), digestOf(right));
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
