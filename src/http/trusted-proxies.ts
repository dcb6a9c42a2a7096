// Whose word on where a request came from is taken: proxies of the operator's, by address or range.
import { BlockList, isIP } from 'node:net';

/** @param ranges addresses and CIDR ranges, checked before */
export function proxyTrust(ranges: readonly string[]): (address: string) => boolean {
  if (ranges.length === 0) return () => false;
  const trusted = new BlockList();
  for (const range of ranges) {
    const [address = '', bits] = range.split('/');
    const family = familyOf(address);
    trusted.addSubnet(address, Number(bits ?? (family === 'ipv4' ? 32 : 128)), family);
  }
  return (address) => {
    const bare = address.replace(/%.*$/, '');
    return isIP(bare) !== 0 && trusted.check(bare, familyOf(bare));
  };
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6';
}
