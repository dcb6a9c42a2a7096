// `gateway.audit` as the rest of the code sees it.

export interface AuditConfig {
  /** Absolute. */
  readonly path: string;
  /** Undefined: plain hashes. */
  readonly key: string | undefined;
  readonly arguments: 'digest' | 'keys' | 'full' | 'none';
  readonly onFailure: 'refuse' | 'continue';
  /** A file of this size is set aside; 0: never. */
  readonly maxBytes: number;
}
