// The suite's scenarios for clients, with an SDK's client before its mock servers: directly, and with Portico in
// between, which is then what the mock server sees. Those on authorization are left out: Portico never hands a
// client's token on, so there is nothing of the client's for the mock server to see.
import { fileURLToPath } from 'node:url';
import type { Check, SuiteRun } from './checks.ts';
import type { Limit } from './limit.ts';
import { runSuite } from './suite.ts';

export const CLIENT_SCENARIOS: Readonly<Record<string, readonly string[]>> = {
  '2025-11-25': [
    'initialize',
    'tools_call',
    'elicitation-sep1034-client-defaults',
    'sse-retry',
    'json-schema-2020-12-preservation',
  ],
  '2026-07-28': [
    'tools_call',
    'request-metadata',
    'sep-2322-client-request-state',
    'http-standard-headers',
    'http-custom-headers',
    'http-invalid-tool-headers',
    'json-schema-ref-no-deref',
    'json-schema-2020-12-preservation',
  ],
};

const CLIENT = fileURLToPath(new URL('scenario-client.ts', import.meta.url));

/** Runs every client scenario of a revision, each as a run of the suite and so of the client. */
export async function runClientScenarios(
  revision: string,
  { portico, limit }: { portico: boolean; limit: Limit },
): Promise<SuiteRun> {
  const env = portico ? { PORTICO_BETWEEN: '1' } : {};
  const runs = (CLIENT_SCENARIOS[revision] ?? []).map((scenario) => {
    const command = `${process.execPath} ${CLIENT}`;
    const args = ['client', '--command', command, '--scenario', scenario, '--spec-version', revision];
    return limit(() => runSuite(args, env));
  });
  const merged = new Map<string, readonly Check[]>();
  for (const run of await Promise.all(runs)) {
    for (const [scenario, checks] of run) merged.set(scenario, checks);
  }
  return merged;
}
