// Which hosts are reached directly although there is a proxy: the entries of `gateway.outbound.noProxy`, which are
// spelt as in the environment variable NO_PROXY of other programs.
import { BlockList, isIP } from 'node:net';
import { isLoopbackHost, rangeFault } from './addresses.ts';
import { type Fault, fault } from './fault.ts';

interface Entry {
  /** A name, an IP address, a CIDR range, or `*`. */
  readonly host: string;
  readonly port: string | undefined;
}

const NAME = /^[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?$/;
const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/** One text may hold several entries, as the environment variable does. */
export function splitNoProxy(texts: readonly string[]): string[] {
  return texts.flatMap((text) => text.toLowerCase().split(/[\s,]+/)).filter((entry) => entry !== '');
}

/** What is wrong with a text of the config. */
export function noProxyFault(text: string): Fault | undefined {
  const isWrong = splitNoProxy([text]).some((entry) => !isEntry(parse(entry)));
  return isWrong
    ? fault(
        'expected hosts that are reached without the proxy',
        'As in internal.example, 10.0.0.0/8, or host:8443.',
      )
    : undefined;
}

/** Loopback addresses are never reached through a proxy: it would take them for its own. */
export function bypassesProxy(url: URL, noProxy: readonly string[]): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const port = url.port === '' ? DEFAULT_PORTS[url.protocol] : url.port;
  if (isLoopbackHost(host)) return true;
  return noProxy.map(parse).some((entry) => {
    if (entry.port !== undefined && entry.port !== port) return false;
    return (
      entry.host === '*' ||
      host === entry.host ||
      host.endsWith(`.${entry.host}`) ||
      isWithin(host, entry.host)
    );
  });
}

function parse(entry: string): Entry {
  const [, bracketed, bracketedPort] = /^\[([^\]]*)\](?::(\d+))?$/.exec(entry) ?? [];
  if (bracketed !== undefined) return { host: bracketed, port: bracketedPort };
  const [, name, port] = /^([^:]*):(\d+)$/.exec(entry) ?? [];
  // A leading dot, or star and dot, means what the name alone means: it, and all names below it.
  return { host: (name ?? entry).replace(/^\*?\.(?=.)/, ''), port };
}

function isEntry({ host }: Entry): boolean {
  return host === '*' || NAME.test(host) || rangeFault(host) === undefined;
}

function isWithin(address: string, range: string): boolean {
  const [network = '', bits] = range.split('/');
  const version = isIP(network);
  if (version === 0 || isIP(address) !== version) return false;
  const family = version === 6 ? 'ipv6' : 'ipv4';
  const list = new BlockList();
  list.addSubnet(network, bits === undefined ? (version === 6 ? 128 : 32) : Number(bits), family);
  return list.check(address, family);
}
