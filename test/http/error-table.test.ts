import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FAILURES, type FailureCode, GatewayError } from '../../src/errors.ts';
import { post, startEdge } from './edge.ts';

interface Row {
  readonly status: number;
  readonly rpcCode: number;
  readonly withoutId?: true;
  /** Where a legacy client is told otherwise. */
  readonly legacy?: { readonly status?: number; readonly rpcCode?: number };
}

/** The table of the documentation, by hand: what outside checks rely on. */
const TABLE: Readonly<Record<FailureCode, Row>> = {
  'not-json': { status: 400, rpcCode: -32700, withoutId: true },
  'not-a-message': { status: 400, rpcCode: -32600 },
  'meta-missing': { status: 400, rpcCode: -32602 },
  'header-mismatch': { status: 400, rpcCode: -32020 },
  'version-unsupported': { status: 400, rpcCode: -32022 },
  'method-unknown': { status: 404, rpcCode: -32601, legacy: { status: 200 } },
  'params-invalid': { status: 200, rpcCode: -32602 },
  'target-unknown': { status: 200, rpcCode: -32602 },
  'resource-unknown': { status: 200, rpcCode: -32602, legacy: { rpcCode: -32002 } },
  'condition-refused': { status: 200, rpcCode: 4031 },
  'state-invalid': { status: 200, rpcCode: -32602 },
  'server-rate-limited': { status: 200, rpcCode: 4290 },
  'http-method': { status: 405, rpcCode: -32600, withoutId: true },
  'capability-missing': { status: 400, rpcCode: -32021 },
  'token-missing': { status: 401, rpcCode: 4010 },
  'token-invalid': { status: 401, rpcCode: 4010 },
  'scope-insufficient': { status: 403, rpcCode: 4030 },
  'origin-refused': { status: 403, rpcCode: -32600, withoutId: true },
  'host-refused': { status: 403, rpcCode: -32600, withoutId: true },
  'session-unknown': { status: 404, rpcCode: 4040 },
  'session-missing': { status: 400, rpcCode: -32600 },
  'resume-unknown': { status: 400, rpcCode: -32600 },
  'not-acceptable': { status: 406, rpcCode: -32600 },
  'media-type': { status: 415, rpcCode: -32600 },
  'body-too-large': { status: 413, rpcCode: -32600 },
  'rate-limited': { status: 429, rpcCode: 4290 },
  'no-capacity': { status: 503, rpcCode: 5030 },
  draining: { status: 503, rpcCode: 5030 },
  'server-unavailable': { status: 200, rpcCode: 5020 },
  'deadline-passed': { status: 200, rpcCode: 5040 },
  'store-unavailable': { status: 503, rpcCode: 5031 },
  'issuer-unavailable': { status: 503, rpcCode: 5032 },
  'audit-unavailable': { status: 503, rpcCode: 5033 },
  'request-malformed': { status: 400, rpcCode: -32600, withoutId: true },
  'request-timeout': { status: 408, rpcCode: -32600, withoutId: true },
  'headers-too-large': { status: 431, rpcCode: -32600, withoutId: true },
  'view-unknown': { status: 404, rpcCode: 4041 },
  'path-unknown': { status: 404, rpcCode: 4041, withoutId: true },
  'credential-refused': { status: 200, rpcCode: 5021 },
  internal: { status: 500, rpcCode: -32603 },
};

const LARGE_ID = '9007199254740993';

test('every failure has its row here', () => {
  assert.deepEqual(Object.keys(TABLE).sort(), Object.keys(FAILURES).sort());
});

for (const [code, row] of Object.entries(TABLE) as [FailureCode, Row][]) {
  for (const era of ['modern', 'legacy'] as const) {
    test(`${code} for a ${era} client`, async (t) => {
      const { url, nextSettled } = await startEdge(t, {
        handle: ({ reply }) => reply.fail(new GatewayError(code, { reason: 'why' }), LARGE_ID, era),
      });
      const settling = nextSettled();
      const response = await post(`${url}/mcp`, '{}');
      const expected = era === 'legacy' ? { ...row, ...row.legacy } : row;
      assert.equal(response.status, expected.status);
      assert.equal(response.headers.get('content-type'), 'application/json');
      assert.equal(response.headers.get('cache-control'), 'no-store');
      assert.equal(response.headers.has('retry-after'), [429, 503].includes(expected.status));
      assert.equal(
        response.headers.has('www-authenticate'),
        code.startsWith('token-') || code.startsWith('scope-'),
      );
      const body = await response.text();
      const id = row.withoutId ? '' : `"id":${LARGE_ID},`;
      assert.ok(
        body.startsWith(`{"jsonrpc":"2.0",${id}"error":{"code":${expected.rpcCode},"message":"`),
        body,
      );
      const { httpStatus, outcome, reason } = await settling;
      assert.deepEqual(
        { httpStatus, outcome, reason },
        { httpStatus: expected.status, outcome: code, reason: 'why' },
      );
    });
  }
}

const IDS = ['0', '1', '-0', '"0"', '""', '"1"', '9007199254740993', '"\\u2028\\"\\n"', '1e400'];

for (const idText of IDS) {
  test(`the id ${idText} comes back as it was, in results, errors and events`, async (t) => {
    const failure = new GatewayError('server-unavailable');
    const { url } = await startEdge(t, {
      handle: ({ reply, view }) => {
        if (view?.startsWith('streamed')) reply.openStream();
        if (view?.endsWith('result')) reply.respond(idText, { result: {} });
        else reply.fail(failure, idText, 'modern');
      },
    });
    const named = `{"jsonrpc":"2.0","id":${idText},`;
    for (const view of ['result', 'error']) {
      assert.ok((await (await post(`${url}/mcp/${view}`, '{}')).text()).startsWith(named));
      const events = await (await post(`${url}/mcp/streamed-${view}`, '{}')).text();
      assert.ok(events.startsWith(`: keep-alive\n\ndata: ${named}`), events);
    }
  });
}

test('details of a failure are told: data, when to retry, the methods that there are', async (t) => {
  const { url } = await startEdge(t, {
    handle: ({ reply, view }) => {
      const details = { data: { uri: 'a:b' }, retryAfterMs: 1_001, allow: 'POST', text: 'In other words' };
      reply.fail(
        new GatewayError(view === 'limited' ? 'rate-limited' : 'http-method', details),
        '1',
        'modern',
      );
    },
  });
  const limited = await post(`${url}/mcp/limited`, '{}');
  assert.equal(limited.headers.get('retry-after'), '2');
  assert.deepEqual(await limited.json(), {
    jsonrpc: '2.0',
    id: 1,
    error: { code: 4290, message: 'In other words', data: { uri: 'a:b', retryAfterMs: 1_001 } },
  });
  assert.equal((await post(`${url}/mcp/method`, '{}')).headers.get('allow'), 'POST');
});

test('what was not foreseen is told as an incident; its cause is in the log alone', async (t) => {
  const { url, logLines, nextSettled } = await startEdge(t, {
    handle: () => {
      throw new TypeError('the inner truth');
    },
  });
  const settling = nextSettled();
  const response = await post(`${url}/mcp`, '{}');
  assert.equal(response.status, 500);
  const { id } = await settling;
  assert.deepEqual(await response.json(), {
    jsonrpc: '2.0',
    error: { code: -32603, message: 'Internal error', data: { incidentId: id } },
  });
  const [line = ''] = logLines;
  const { level, incidentId, err } = JSON.parse(line);
  assert.deepEqual([level, incidentId, err.message], [50, id, 'the inner truth']);
});

test('a failure on an open stream is its last event; without an id the stream just ends', async (t) => {
  const { url } = await startEdge(t, {
    handle: ({ reply, view }) => {
      reply.openStream();
      reply.fail(new GatewayError('deadline-passed'), view === 'named' ? '"a"' : undefined, 'legacy');
    },
  });
  const error = '{"code":5040,"message":"The server did not answer in time"}';
  assert.equal(
    await (await post(`${url}/mcp/named`, '{}')).text(),
    `: keep-alive\n\ndata: {"jsonrpc":"2.0","id":"a","error":${error}}\n\n`,
  );
  assert.equal(await (await post(`${url}/mcp/nameless`, '{}')).text(), ': keep-alive\n\n');
});

test('a failure that is a 200 comes as an event to a client that takes nothing else', async (t) => {
  const { url } = await startEdge(t, {
    handle: ({ reply, view }) =>
      reply.fail(new GatewayError(view === 'down' ? 'server-unavailable' : 'no-capacity'), '1', 'modern'),
  });
  const typeOf = async (view: string) => {
    const response = await post(`${url}/mcp/${view}`, '{}', { Accept: 'text/event-stream' });
    await response.text();
    return [response.status, response.headers.get('content-type')];
  };
  assert.deepEqual(await typeOf('down'), [200, 'text/event-stream']);
  assert.deepEqual(await typeOf('full'), [503, 'application/json']);
});
