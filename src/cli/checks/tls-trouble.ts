// What the codes of TLS errors mean, and what an operator does about them. Pure.

export interface TlsTrouble {
  readonly text: string;
  readonly advice: string;
}

/** Far more than errors are ever wrapped in; one may be its own cause. */
const MAX_DEPTH = 10;

/** OpenSSL's own codes have changed with its versions: what they end with has not. TRUST: see below. */
const TROUBLES: readonly (readonly [code: RegExp, text: string, advice: string])[] = [
  [
    /^DEPTH_ZERO_SELF_SIGNED_CERT$/,
    'its certificate is signed by itself alone, so nobody vouches for it',
    'If it is the right one, put that certificate (PEM) into TRUST.',
  ],
  [
    /^(SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_GET_ISSUER_CERT(_LOCALLY)?|CERT_SIGNATURE_FAILURE)$/,
    'its certificate comes from an authority that is not trusted here',
    "Put the authority's certificate (PEM) into TRUST.",
  ],
  [
    /^UNABLE_TO_VERIFY_LEAF_SIGNATURE$/,
    'its certificate cannot be traced to an authority: one in between is missing, or the authority is not trusted here',
    'Let it send the certificates in between; if the authority is your own, put its certificate (PEM) into TRUST.',
  ],
  [
    /^CERT_HAS_EXPIRED$/,
    'its certificate has expired',
    'Let whoever runs it renew the certificate, and check the clock of this machine.',
  ],
  [
    /^CERT_NOT_YET_VALID$/,
    'its certificate is not good yet',
    'Check the clock of this machine, and the dates of the certificate.',
  ],
  [/^CERT_REVOKED$/, 'its certificate was revoked', 'Let whoever runs it get a new certificate.'],
  [
    /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    'its certificate is for another name than the one in the URL',
    'Use the name that the certificate has, or let whoever runs it get one for this name.',
  ],
  [
    /^ERR_SSL_.*(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)$/,
    'it does not speak TLS on that port',
    'Write http:// (redis:// for Redis) if it has no TLS, or correct the port.',
  ],
  [
    /^ERR_SSL_.*ALERT_(CERTIFICATE_REQUIRED|BAD_CERTIFICATE|UNKNOWN_CA|CERTIFICATE_UNKNOWN)$/,
    'it wants a certificate of its client, and did not get one that it takes',
    'Give it tls.cert and tls.key that it takes.',
  ],
  [
    /^ERR_SSL_.*ALERT_HANDSHAKE_FAILURE$/,
    'it wants a certificate of its client, or has no cipher in common with Portico',
    'If it wants a certificate, give it tls.cert and tls.key.',
  ],
  [
    /^ERR_SSL_.*(ALERT_PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL)$/,
    'it and Portico have no version of TLS in common',
    'Let it speak TLS 1.2 or 1.3.',
  ],
];

/**
 * Undefined where what was thrown is not about TLS.
 *
 * @param trust the keys of the config that name authorities for what was reached
 */
export function tlsTrouble(thrown: unknown, trust: string): TlsTrouble | undefined {
  let error = thrown;
  for (let depth = 0; depth < MAX_DEPTH && error instanceof Error; depth += 1) {
    const code = 'code' in error ? String(error.code) : '';
    const [, text, advice] = TROUBLES.find(([known]) => known.test(code)) ?? [];
    if (text !== undefined && advice !== undefined) {
      return { text: `${text} (${code})`, advice: advice.replace('TRUST', trust) };
    }
    error = error.cause;
  }
  return undefined;
}
