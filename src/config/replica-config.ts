// Where other replicas reach this one, as configured.

export interface ReplicaConfig {
  readonly listen: { readonly host: string; readonly port: number };
  /** An origin: scheme, host, port, and no slash at the end. */
  readonly url: string;
  /** At least 32 characters. Never used as it is: every use has a key of its own, derived from it. */
  readonly secret: string;
}
