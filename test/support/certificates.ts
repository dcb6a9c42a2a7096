// X.509 certificates for the tests, made as they run: nothing to expire, no private key in the repository. Just enough
// DER (ITU-T X.690) for what TLS between our own processes looks at.
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

export interface Identity {
  /** PEM. */
  readonly cert: string;
  readonly key: string;
}
export interface Authority extends Identity {
  /** A certificate for a server reachable at 127.0.0.1 and under `names`. */
  issueServer(names?: readonly string[]): Identity;
  issueClient(commonName: string): Identity;
}

export function createAuthority(commonName = 'Test Authority'): Authority {
  const keys = newKeys();
  const own = certificate({
    subject: commonName,
    keys,
    issuer: commonName,
    issuerKeys: keys,
    extensions: [CA],
  });
  const issue = (subject: string, extensions: Buffer[]): Identity => {
    const subjectKeys = newKeys();
    const details = { subject, keys: subjectKeys, issuer: commonName, issuerKeys: keys, extensions };
    return { cert: certificate(details), key: pemOf(subjectKeys) };
  };
  return {
    cert: own,
    key: pemOf(keys),
    issueServer: (names = ['localhost']) => issue('server', [subjectNames(names)]),
    issueClient: (name) => issue(name, []),
  };
}

interface Keys {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}
interface Details {
  readonly subject: string;
  readonly keys: Keys;
  readonly issuer: string;
  readonly issuerKeys: Keys;
  readonly extensions: readonly Buffer[];
}

function certificate({ subject, keys, issuer, issuerKeys, extensions }: Details): string {
  const day = 24 * 3600 * 1000;
  const body = sequence(
    tagged(0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ECDSA_SHA256,
    name(issuer),
    sequence(utcTime(Date.now() - day), utcTime(Date.now() + day)),
    name(subject),
    keys.publicKey.export({ type: 'spki', format: 'der' }),
    ...(extensions.length === 0 ? [] : [tagged(3, sequence(...extensions))]),
  );
  const signature = sign('sha256', body, issuerKeys.privateKey);
  const whole = sequence(body, ECDSA_SHA256, bitString(signature));
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

function newKeys(): Keys {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' });
}

function pemOf({ privateKey }: Keys): string {
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, ...parts);
}
function tagged(number: number, content: Buffer): Buffer {
  return der(0xa0 | number, content);
}
function integer(bytes: Buffer): Buffer {
  return der(0x02, bytes);
}
function bitString(bytes: Buffer): Buffer {
  return der(0x03, Buffer.from([0]), bytes);
}
function objectId(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'));
}
function utcTime(at: number): Buffer {
  const digits = new Date(at).toISOString().replace(/\D/g, '').slice(2, 14);
  return der(0x17, Buffer.from(`${digits}Z`));
}
/** commonName alone. */
function name(text: string): Buffer {
  return sequence(der(0x31, sequence(objectId('550403'), der(0x0c, Buffer.from(text)))));
}
function extension(id: string, critical: boolean, value: Buffer): Buffer {
  const flag = critical ? [der(0x01, Buffer.from([0xff]))] : [];
  return sequence(objectId(id), ...flag, der(0x04, value));
}
function subjectNames(names: readonly string[]): Buffer {
  const dns = names.map((host) => der(0x82, Buffer.from(host)));
  return extension('551d11', false, sequence(...dns, der(0x87, Buffer.from([127, 0, 0, 1]))));
}

const ECDSA_SHA256 = sequence(objectId('2a8648ce3d040302'));
/** basicConstraints: CA. */
const CA = extension('551d13', true, sequence(der(0x01, Buffer.from([0xff]))));
