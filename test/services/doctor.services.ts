// `portico doctor` and a real Redis.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { doctor } from '../../src/cli/doctor.ts';
import { writeConfig } from '../config/written-config.ts';
import { startRedis } from '../support/redis.ts';

for (const [password, exitCode, told] of [
  ['right-password', 0, /redis .* ok +answers and counts\n/],
  ['wrong-password', 1, /redis .* FAILED .*\n +Check gateway\.redis\.url/],
] as const) {
  test(`Redis is asked to count, with the ${password}`, async (t) => {
    await using redis = await startRedis({ password: 'right-password' });
    const url = `redis://:${password}@127.0.0.1:${redis.port}`;
    const { file } = await writeConfig(t, JSON.stringify({ mcpServers: {}, gateway: { redis: { url } } }));
    let text = '';
    const output = { write: (written: string) => (text += written) };
    assert.equal(await doctor({ file, env: {}, stdout: output, stderr: output }), exitCode, text);
    assert.match(text, told);
    assert.doesNotMatch(text, /(right|wrong)-password/);
  });
}
