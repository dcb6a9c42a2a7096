// What `portico --help` says.
import { DEFAULT_CONFIG_FILE } from './arguments.ts';

export const HELP = `Portico, a gateway for remote MCP servers.

Usage
  portico [serve] [--config FILE] [--host H] [--port N]   serve the configured MCP servers
  portico check [--config FILE]                           check the config and print every problem
  portico doctor [--config FILE]                          check, then really reach issuers, Redis and every server
  portico explain --token FILE|--claims FILE [TARGET] [--config FILE]
                                                          what a caller sees, and which rule decides
  portico audit verify FILE... [--key FILE] [--head HASH]
                                                          whether audit files, the oldest first, are whole
  portico pin [--server NAME] [--check] [--config FILE]   write the tools that servers have now to portico.lock,
                                                          or say what differs from there
  portico --version
  portico --help

Options
  -c, --config FILE   YAML or JSON, or an MCP client's own mcp.json
                      (default: $PORTICO_CONFIG, else ${DEFAULT_CONFIG_FILE})
      --host H        listen on this address in place of gateway.listen.host
      --port N        listen on this port in place of gateway.listen.port; 0 takes a free one
      --token FILE    the caller's access token, or API key
      --claims FILE   what such a token says, as JSON
      --key FILE      the file that holds audit.key
      --head HASH     the last auditHead of the log, which no record may be missing before
      --server NAME   ask this server alone, and leave the others as they are
      --check         write nothing; exit with 1 if anything differs

Exit codes
  0  done, or stopped in order     1  it failed, or found something wrong     2  the command is wrong
`;

/** For standard error, after a command that is wrong. */
export function mistakeLine(message: string): string {
  return `portico: ${message} (see portico --help)\n`;
}
