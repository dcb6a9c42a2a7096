// Servers: each is started or called as serving would, and asked for its tools.
import { GatewayError } from '../../errors.ts';
import type { Server } from '../../servers/server.ts';
import { withinTime } from '../../servers/within-time.ts';
import { type Check, type Finding, failed, type Surroundings } from './check-parts.ts';
import type { LastWords } from './last-words.ts';

export function serverChecks({ edition, lastWords }: Surroundings): Check[] {
  const { servers, catalogue } = edition.context;
  return [...servers.values()].map((server) => ({
    kind: 'server',
    subject: server.slug,
    async run() {
      if (server.personal) return { verdict: 'not tried', text: 'it sees who calls, and nobody does here' };
      try {
        const { signal } = new AbortController();
        // Probe and handshake each have the start timeout.
        const link = await withinTime(server.catalogueLink(), server.config.startTimeoutMs * 2, signal);
        const { size } = await catalogue.table(link, 'tools', { signal });
        const { era, version } = link.peer;
        return { verdict: 'ok', text: `${era} ${version}, ${size} ${size === 1 ? 'tool' : 'tools'}` };
      } catch (thrown) {
        return unreachable(server, thrown, lastWords);
      }
    },
  }));
}

function unreachable(server: Server, thrown: unknown, lastWords: LastWords): Finding {
  const reason = thrown instanceof GatewayError ? adviceKey(thrown) : '';
  const advice =
    ADVICE[reason] ??
    (server.config.type === 'stdio'
      ? `Run its command by hand, in its cwd, and look at what it prints. ${FEW_VARIABLES}`
      : 'Check its url, and that it can be reached from here.');
  const cause = thrown instanceof Error ? (thrown.cause ?? thrown) : thrown;
  const finding = failed(cause, advice, 'its tls.ca, or gateway.outbound.ca');
  return { ...finding, lastWords: lastWords.of(server.slug) };
}

/** Whatever became of a credential, there is one thing to look at. */
function adviceKey({ code, details }: GatewayError): string {
  return code === 'credential-refused' ? code : (details.reason ?? code);
}

/** By hand all works where a shell has what the child lacks: npx behind a proxy then waits without a word. */
const FEW_VARIABLES =
  'Of your environment it sees PATH, HOME and the like alone: what else it needs, such as NODE_EXTRA_CA_CERTS or ' +
  'HTTPS_PROXY, goes into its env.';
const SLOW_START = `Raise its startTimeout if it needs longer; package runners do the first time. ${FEW_VARIABLES}`;

const ADVICE: Readonly<Record<string, string>> = {
  'command-missing': 'Install the program, or give its full path in command.',
  'command-not-permitted': 'Make the program executable for the user that Portico runs as.',
  'cwd-unusable': 'Correct its cwd.',
  'start-timeout': SLOW_START,
  start: SLOW_START,
  'connection-lost':
    'It closes the connection: check its url, and whether it wants a certificate of its client (tls.cert, tls.key).',
  'credential-refused': 'Check what signs Portico in to it: auth (docs/credentials.md), headers, tls.cert.',
  'not-modern': 'Leave out `protocol: modern`, or update the server.',
  'no-common-version': 'Update the server: it speaks no revision that Portico does.',
};
