// What sources of credentials need to do their work.
import type { FetchJson } from '../http/fetch-json.ts';
import type { CacheTiming } from './credential-cache.ts';
import type { IdentitySigner } from './identity-signer.ts';
import type { IssuerNames } from './issuer-names.ts';

export interface SourceOptions {
  readonly fetchJson: FetchJson;
  /** `Date.now` */
  readonly now: () => number;
  readonly timing?: Partial<CacheTiming>;
  /** Undefined where Portico has no key of its own. */
  readonly signer: IdentitySigner | undefined;
  readonly issuers: IssuerNames;
}
