// What of a session is kept for a successor, and what one can read of it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SealedState } from '../../../src/bridge/seals/sealed-state.ts';
import { KeptState, type KeptStateOptions } from '../../../src/bridge/sessions/kept-state.ts';
import type { Peer } from '../../../src/servers/peer.ts';
import { NEW_STATE, type SessionState } from '../../../src/state/session-store.ts';
import { httpServerConfig } from '../../support/http-server-config.ts';

const SEALS = new SealedState(Buffer.alloc(32, 1));
const SERVER = httpServerConfig('http://127.0.0.1:9/mcp');
const PEER: Peer = {
  era: 'legacy',
  version: '2025-06-18',
  serverInfo: { name: 'upstream' },
  capabilities: { tools: {} },
  instructions: 'Long words that nobody needs again.',
};
const UPSTREAM = { id: 'upstream-session', peer: PEER };

function keeping(changes: Partial<KeptStateOptions> = {}) {
  const saved: SessionState[] = [];
  const save = async (state: SessionState) => void saved.push(state);
  const options = { key: 'key', principal: 'a', seals: SEALS, save, ...changes };
  return { kept: new KeptState(options), saved };
}

/** As it was kept by a session of that principal at that server. */
function inherited(): SessionState {
  const { kept } = keeping();
  kept.noteUpstream(SERVER, UPSTREAM);
  return kept.state;
}

test('whatever changes is saved whole', () => {
  const { kept, saved } = keeping();
  kept.note({ initialized: true });
  kept.note({ logLevel: 'error' });
  assert.deepEqual(saved, [
    { ...NEW_STATE, initialized: true },
    { ...NEW_STATE, initialized: true, logLevel: 'error' },
  ]);
});

test('a store that is away fails nobody but who needs it to know', async () => {
  const { kept } = keeping({ save: async () => Promise.reject(new Error('away')) });
  kept.note({ initialized: true });
  assert.equal(kept.state.initialized, true);
  await assert.rejects(async () => kept.claimProcess(), /away/);
});

test('that it has a process of its own is saved once, and waited for', async () => {
  const { kept, saved } = keeping();
  await kept.claimProcess();
  assert.equal(kept.claimProcess(), undefined);
  assert.deepEqual(saved, [{ ...NEW_STATE, hasProcess: true }]);
});

test('without other replicas nothing is sealed or waited for', () => {
  const { kept } = keeping({ save: undefined });
  kept.noteUpstream(SERVER, UPSTREAM);
  kept.note({ logLevel: 'debug' });
  assert.equal(kept.claimProcess(), undefined);
  assert.deepEqual(kept.state, { ...NEW_STATE, logLevel: 'debug' });
});

test('a session at a server is handed on once, with what its handshake said', () => {
  const { kept } = keeping({ inherited: inherited() });
  assert.deepEqual(kept.heirlooms, [SERVER.slug]);
  assert.deepEqual(kept.inherit(SERVER), { ...UPSTREAM, peer: { ...PEER, instructions: undefined } });
  assert.equal(kept.inherit(SERVER), undefined);
  assert.deepEqual(kept.heirlooms, []);
});

test('F05: its id stands nowhere to be read', () => {
  assert.ok(!JSON.stringify(inherited()).includes(UPSTREAM.id));
});

const STRANGERS: readonly [string, Partial<KeptStateOptions>, typeof SERVER?][] = [
  ['another principal', { principal: 'b' }],
  ['another session', { key: 'another' }],
  ['replicas of another secret', { seals: new SealedState(Buffer.alloc(32, 2)) }],
  ['a server that has moved', {}, httpServerConfig('http://127.0.0.1:10/mcp')],
  ['another server', {}, { ...SERVER, slug: 'another' }],
];
for (const [who, changes, server = SERVER] of STRANGERS) {
  test(`F05: a session at a server is worth nothing to ${who}`, () => {
    const state = inherited();
    const upstreamSessions = { [server.slug]: state.upstreamSessions[SERVER.slug] ?? '' };
    const { kept } = keeping({ ...changes, inherited: { ...state, upstreamSessions } });
    assert.equal(kept.inherit(server), undefined);
  });
}

test('a server that says too much of itself is greeted anew by a successor', () => {
  const { kept } = keeping();
  kept.noteUpstream(SERVER, { ...UPSTREAM, peer: { ...PEER, capabilities: { much: 'x'.repeat(20_000) } } });
  assert.deepEqual(kept.state.upstreamSessions, {});
});
