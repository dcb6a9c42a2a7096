import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  LOG_LEVEL_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  SERVER_INFO_META_KEY,
  SUBSCRIPTION_ID_META_KEY,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/server';
import { eraOfHeader } from '../../src/protocol/client-message.ts';
import {
  DEFAULT_LEGACY_VERSION,
  isAtLeast,
  isModernVersion,
  LATEST_LEGACY_VERSION,
  LEGACY_VERSIONS,
  META,
  MODERN_VERSION,
  MODERN_VERSIONS,
  SUPPORTED_VERSIONS,
} from '../../src/protocol/era.ts';

const NO_VERSIONS = ['', 'latest', '2026-7-28', '2026-07-28 ', ' 2026-07-28', '2026-07-28, 2026-07-28'];
const NOT_DATES = [
  'DRAFT-2026-v1',
  '20260728',
  '2026-07-28T00:00:00Z',
  '\u0662026-07-28',
  '9999',
  '2026-07-28\n',
];

describe('isModernVersion', () => {
  for (const version of ['2026-07-28', '2026-07-29', '2026-12-01', '2031-01-01', '9999-12-31']) {
    test(`${version} is modern`, () => {
      assert.ok(isModernVersion(version));
      assert.equal(eraOfHeader(version), 'modern');
    });
  }
  for (const version of [
    '2026-07-27',
    '2025-11-25',
    '2024-11-05',
    '0001-01-01',
    ...NO_VERSIONS,
    ...NOT_DATES,
  ]) {
    test(`${JSON.stringify(version)} is not`, () => {
      assert.ok(!isModernVersion(version));
      assert.notEqual(eraOfHeader(version), 'modern');
    });
  }
});

describe('eraOfHeader', () => {
  test('names the legacy era for each legacy version that we speak, and for no other', () => {
    for (const version of LEGACY_VERSIONS) assert.equal(eraOfHeader(version), 'legacy');
    for (const version of ['2025-01-01', '2026-07-27', ...NO_VERSIONS, ...NOT_DATES, undefined]) {
      assert.equal(eraOfHeader(version), undefined);
    }
  });
});

describe('the versions', () => {
  test('are those of the SDK, newest first, with the modern one', () => {
    assert.deepEqual(
      LEGACY_VERSIONS,
      SUPPORTED_PROTOCOL_VERSIONS.filter((version) => version >= '2024-11-05' && version < MODERN_VERSION),
    );
    assert.deepEqual(SUPPORTED_VERSIONS, [...MODERN_VERSIONS, ...LEGACY_VERSIONS]);
    assert.deepEqual(SUPPORTED_VERSIONS, [...SUPPORTED_VERSIONS].sort().reverse());
  });

  test('stand in the era that their list says', () => {
    assert.ok(MODERN_VERSIONS.every(isModernVersion));
    assert.ok(!LEGACY_VERSIONS.some(isModernVersion));
    assert.equal(LATEST_LEGACY_VERSION, LEGACY_VERSIONS[0]);
    assert.ok(LEGACY_VERSIONS.includes(DEFAULT_LEGACY_VERSION));
  });

  test('order by date', () => {
    assert.ok(isAtLeast('2025-11-25', '2025-11-25'));
    assert.ok(isAtLeast('2026-07-28', '2025-11-25'));
    assert.ok(!isAtLeast('2025-06-18', '2025-11-25'));
  });
});

test('the reserved keys of _meta are those of the SDK', () => {
  assert.deepEqual(META, {
    protocolVersion: PROTOCOL_VERSION_META_KEY,
    clientInfo: CLIENT_INFO_META_KEY,
    clientCapabilities: CLIENT_CAPABILITIES_META_KEY,
    logLevel: LOG_LEVEL_META_KEY,
    serverInfo: SERVER_INFO_META_KEY,
    subscriptionId: SUBSCRIPTION_ID_META_KEY,
  });
});
