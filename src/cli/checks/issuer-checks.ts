// Issuers of tokens: their metadata, their keys, and the endpoint that knows their opaque tokens.
import { Introspection } from '../../access/sign-in/introspection.ts';
import { discoverJwksUri } from '../../access/sign-in/issuer-metadata.ts';
import { readKeySet } from '../../access/sign-in/key-set.ts';
import { resourceIdentifiers } from '../../access/sign-in/resource-identifiers.ts';
import type { IssuerConfig } from '../../config/auth-config.ts';
import { GatewayError } from '../../errors.ts';
import { createFetchJson, type FetchJson } from '../../servers/http/fetch-json.ts';
import { type Check, type Finding, failed, type Surroundings } from './check-parts.ts';

const TIMEOUT_MS = 10_000;

export function issuerChecks({ config, edition, lasting }: Surroundings): Check[] {
  const fetchJson = createFetchJson(edition.outbound);
  const { auth, publicUrl } = config.gateway;
  return (auth?.issuers ?? []).map((issuer) => ({
    kind: 'issuer',
    subject: issuer.issuer,
    async run() {
      const keys = await findKeys(issuer, fetchJson);
      if (keys.verdict === 'FAILED' || issuer.introspection === undefined) return keys;
      const { introspection } = issuer;
      const asking = new Introspection({
        issuer: { ...issuer, introspection },
        resources: resourceIdentifiers(publicUrl),
        fetchJson,
        logger: lasting.logger,
        now: Date.now,
      });
      const asked = await tryIntrospection(asking);
      asking.close();
      return asked ?? { verdict: 'ok', text: `${keys.text}, introspection answers` };
    },
  }));
}

async function findKeys(issuer: IssuerConfig, fetchJson: FetchJson): Promise<Finding> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  let uri = issuer.jwksUri;
  try {
    uri ??= await discoverJwksUri(issuer.issuer, fetchJson, signal);
  } catch (thrown) {
    return failed(
      thrown,
      'Check that gateway.auth.issuers[].issuer is exactly what its metadata says, or set jwksUri.',
    );
  }
  try {
    const { status, body } = await fetchJson({ url: uri, signal });
    if (status !== 200) throw new Error(`its key set answered ${status}`);
    const { length } = readKeySet(body).keys;
    const found = issuer.jwksUri === undefined ? 'metadata, ' : '';
    return { verdict: 'ok', text: `${found}${length} ${length === 1 ? 'key' : 'keys'}` };
  } catch (thrown) {
    return failed(thrown, `Check that ${uri} can be reached from here and holds the issuer's public keys.`);
  }
}

/** Asks about a token that nobody has: an issuer that answers says that it is not active. */
async function tryIntrospection(introspection: Introspection): Promise<Finding | undefined> {
  try {
    await introspection.ask('portico-doctor', 'portico-doctor');
  } catch (thrown) {
    if (thrown instanceof GatewayError && thrown.code === 'token-invalid') return undefined;
    return failed(thrown, 'Check endpoint, clientId and clientSecret of its introspection.');
  }
  return undefined;
}
