// Credentials on their way from one replica to another: sealed, and for one exchange, one caller and one replica.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callerOf } from '../../src/access/caller-of.ts';
import { ANONYMOUS, type Principal } from '../../src/access/principal.ts';
import { SealedState } from '../../src/bridge/seals/sealed-state.ts';
import type { Exchange } from '../../src/pipeline/exchange.ts';
import type { GatewayContext } from '../../src/pipeline/gateway-context.ts';
import { callerWithCredentials, sealCredentials } from '../../src/pipeline/handed-credentials.ts';
import type { Credential } from '../../src/servers/credentials/credential.ts';
import type { Server } from '../../src/servers/server.ts';

const ANN: Principal = { ...ANONYMOUS, issuer: 'https://idp.example', subject: 'ann', clientId: 'app' };
const CREDENTIAL: Credential = { token: 'token-for-docs', expiresAtMs: 1_900_000_000_000 };
const DOCS = { config: { slug: 'docs' } } as unknown as Server;
const OPEN = { config: { slug: 'open' } } as unknown as Server;

const caller = callerOf(ANN, () => undefined);
const state = new SealedState();
const forgotten: Credential[] = [];
const gateway = {
  bridge: { state },
  credentials: {
    toHandOver: async ({ slug }: { slug: string }) => (slug === 'docs' ? CREDENTIAL : undefined),
    forgetHandedOver: (_server: unknown, _caller: unknown, credential: Credential) =>
      forgotten.push(credential),
  },
} as unknown as GatewayContext;

function arrived(credentials: string | undefined, changes: Partial<Exchange> = {}): Exchange {
  const forwarded = { replica: 'edge', kind: 'permitted' as const, credentials };
  return { id: 'x1', principal: ANN, caller, forwarded, ...changes } as Exchange;
}

test('what was got for a caller is there for the server that it is for, and shows in no text', async () => {
  const exchange = { id: 'x1', principal: ANN, caller };
  const { sealed, forget } = await sealCredentials(gateway, exchange, { to: 'home', servers: [DOCS, OPEN] });
  assert.ok(sealed);
  assert.doesNotMatch(Buffer.from(sealed, 'base64url').toString('latin1') + sealed, /token-for-docs/);
  const { handedOver } = callerWithCredentials(state, arrived(sealed), 'home');
  assert.deepEqual(handedOver?.('docs'), CREDENTIAL);
  assert.equal(handedOver?.('open'), undefined);
  forget();
  assert.deepEqual(forgotten, [CREDENTIAL]);
});

test('another replica, another exchange, another caller and another secret get nothing of it', async () => {
  const exchange = { id: 'x1', principal: ANN, caller };
  const { sealed } = await sealCredentials(gateway, exchange, { to: 'home', servers: [DOCS] });
  for (const [what, found] of [
    ['replica', callerWithCredentials(state, arrived(sealed), 'other')],
    ['exchange', callerWithCredentials(state, arrived(sealed, { id: 'x2' }), 'home')],
    [
      'caller',
      callerWithCredentials(state, arrived(sealed, { principal: { ...ANN, subject: 'bob' } }), 'home'),
    ],
    ['secret', callerWithCredentials(new SealedState(), arrived(sealed), 'home')],
    ['text', callerWithCredentials(state, arrived('garbage'), 'home')],
  ] as const) {
    assert.equal(found.handedOver?.('docs'), undefined, what);
  }
});

test('where servers take nothing of the kind, nothing is handed over', async () => {
  const exchange = { id: 'x1', principal: ANN, caller };
  const { sealed } = await sealCredentials(gateway, exchange, { to: 'home', servers: [OPEN] });
  assert.equal(sealed, undefined);
  assert.equal(callerWithCredentials(state, arrived(undefined), 'home'), caller);
});
