// Keys of `gateway` that do not go together.
import { gateway, testBadConfigs } from './bad-config.ts';

testBadConfigs('an address that the network can reach needs a publicUrl and a decision', [
  {
    name: 'every IPv4 address',
    text: gateway('{ listen: { host: ▸▸0.0.0.0 } }'),
    problems: [
      'gateway.listen.host: gateway.publicUrl is needed on an address that is not loopback',
      'gateway.listen.host: without gateway.auth Portico listens on a loopback address only',
    ],
    hint: 'set gateway.insecure: true',
  },
  {
    name: 'every address, insecure',
    text: gateway('{ listen: { host: ▸"::" }, insecure: true }'),
    problems: 'gateway.listen.host: gateway.publicUrl is needed',
  },
  {
    name: 'a name, which may be any address',
    text: gateway('{ listen: { host: ▸gateway.internal }, publicUrl: "https://x" }'),
    problems: 'gateway.listen.host: without gateway.auth',
  },
  {
    name: 'an address from the command line',
    text: gateway('{ ▸▸listen: { port: 1 } }'),
    listen: { host: '10.0.0.1' },
    problems: [
      'gateway.listen.host: gateway.publicUrl is needed',
      'gateway.listen.host: without gateway.auth',
    ],
  },
  {
    name: 'a wrong publicUrl is no missing one',
    text: gateway('{ listen: { host: 0.0.0.0 }, insecure: true, publicUrl: ▸5 }'),
    problems: 'gateway.publicUrl: expected an http:// or https:// URL, found a number',
  },
  {
    name: 'brackets around the host',
    text: gateway('{ listen: { host: ▸"[::1]" } }'),
    problems: 'gateway.listen.host: expected a host name or an IP address without brackets',
  },
  {
    name: 'two listeners on one port',
    text: gateway('{ listen: { port: 9000 }, admin: { port: ▸9000 } }'),
    problems: 'gateway.admin.port: the admin listener has the port of the public one',
  },
]);

testBadConfigs('lists of origins, hosts and ranges hold exact values', [
  {
    name: 'F54 origins',
    text: gateway(
      '{ origins: [▸"https://x/", ▸"*", https://ok.example, ▸"https://X", ▸"https://x:443", "null"] }',
    ),
    problems: [
      'gateway.origins[0]: expected an exact origin',
      'gateway.origins[1]: origins have no wildcards',
      'gateway.origins[3]: expected an exact origin',
      'gateway.origins[4]: expected an exact origin',
    ],
  },
  {
    name: 'an origin that YAML reads as nothing',
    text: gateway('{ origins: [▸null] }'),
    problems: 'gateway.origins[0]: expected text, found nothing',
  },
  {
    name: 'hosts',
    text: gateway('{ hosts: [▸"http://x", "ok:80", ▸"*.x"], admin: { hosts: [▸"a/b"] } }'),
    problems: [
      'gateway.hosts[0]: expected a Host value',
      'gateway.hosts[2]: hosts have no wildcards',
      'gateway.admin.hosts[0]: expected a Host value',
    ],
  },
  {
    name: 'ranges',
    text: gateway('{ trustedProxies: [10.0.0.0/8, ▸10.0.0.0/33, ▸loopback, ▸"::1/129", 10.0.0.1, ▸1/2/3] }'),
    problems: [
      'gateway.trustedProxies[1]: expected an IP address or a CIDR range',
      'gateway.trustedProxies[2]: expected an IP address or a CIDR range',
      'gateway.trustedProxies[3]: expected an IP address or a CIDR range',
      'gateway.trustedProxies[5]: expected an IP address or a CIDR range',
    ],
  },
]);

testBadConfigs('what Portico cannot use is refused', [
  {
    name: 'a proxy of another kind',
    text: gateway('{ outbound: { proxy: ▸"socks5://x" } }'),
    problems: 'gateway.outbound.proxy: expected an http:// or https:// URL',
  },
  {
    name: 'certificates that are not there',
    text: gateway('{ listen: { tls: { cert: ▸c.pem, key: ▸k.pem } } }'),
    problems: [
      'gateway.listen.tls.cert: this file is of no use: there is no such file',
      'gateway.listen.tls.key: this file is of no use: there is no such file',
    ],
  },
  {
    name: 'certificates that are none',
    text: gateway('{ listen: { ▸tls: { cert: c.pem, key: c.pem } } }'),
    files: { 'c.pem': '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n' },
    problems: 'gateway.listen.tls: cert and key cannot be used together',
  },
]);

const SECRET = '0123456789abcdef0123456789abcdef';
const REDIS = 'redis: { url: "redis://127.0.0.1:1" }';
const replica = (keys: string) =>
  gateway(`{ ${REDIS}, replica: { listen: { host: 10.0.0.5, port: 9091 }, ${keys} } }`);

testBadConfigs('a replica is reached by others, and finds them in Redis', [
  {
    name: 'F44 without Redis',
    text: gateway(
      `{ ▸replica: { listen: { host: 10.0.0.5, port: 9091 }, url: "http://10.0.0.5:9091", secret: ${SECRET} } }`,
    ),
    problems: 'gateway.replica: gateway.replica needs gateway.redis',
  },
  {
    name: 'a secret that can be guessed',
    text: replica(`url: "http://10.0.0.5:9091", secret: ▸${SECRET.slice(1)}`),
    problems: 'gateway.replica.secret: the secret has fewer than 32 characters',
    hint: 'openssl rand -base64 32',
  },
  ...[
    ['ftp://10.0.0.5', 'expected an http:// or https:// URL'],
    ['http://', 'expected an http:// or https:// URL'],
    ['http://10.0.0.5:99999', 'expected an http:// or https:// URL'],
    ['http://ann@10.0.0.5:9091', 'a user or password has no place in this URL'],
    ['http://10.0.0.5:9091/', 'something stands behind the host and port of this URL'],
    ['http://10.0.0.5:9091/x', 'something stands behind the host and port of this URL'],
    ['http://10.0.0.5:9091?x', 'something stands behind the host and port of this URL'],
    ['http://10.0.0.5:9091#x', 'something stands behind the host and port of this URL'],
    ['http://0.0.0.0:9091', 'nobody can be reached at this address'],
    ['http://[::]:9091', 'nobody can be reached at this address'],
  ].map(([url, problem]) => ({
    name: `${url}`,
    text: replica(`url: ▸"${url}", secret: ${SECRET}`),
    problems: `gateway.replica.url: ${problem}`,
  })),
  {
    name: 'the port of another listener',
    text: gateway(
      `{ ${REDIS}, listen: { port: 80 }, admin: { port: 81 }, ` +
        `replica: { listen: { host: 127.0.0.1, port: ▸81 }, url: "http://10.0.0.5", secret: ${SECRET} } }`,
    ),
    problems: 'gateway.replica.listen.port: the listener for other replicas has the port of the admin one',
  },
  {
    name: 'half of it',
    text: gateway(`{ ${REDIS}, ▸▸▸replica: {} }`),
    problems: [
      'gateway.replica: "listen" is missing here',
      'gateway.replica: "url" is missing here',
      'gateway.replica: "secret" is missing here',
    ],
  },
]);
