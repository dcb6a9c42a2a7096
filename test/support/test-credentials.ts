// Credentials to servers as a gateway makes them, for tests of what stands below a gateway.
import { type Credentials, createCredentials } from '../../src/servers/credentials/credentials.ts';
import { IssuerNames } from '../../src/servers/credentials/issuer-names.ts';
import { createFetchJson } from '../../src/servers/http/fetch-json.ts';
import type { Outbound } from '../../src/servers/http/outbound.ts';
import type { Logger } from '../../src/telemetry/logger.ts';

export function testCredentials({ outbound, logger }: { outbound: Outbound; logger: Logger }): Credentials {
  return createCredentials({
    fetchJson: createFetchJson(outbound),
    signer: undefined,
    issuers: new IssuerNames(undefined),
    logger,
    now: Date.now,
  });
}
