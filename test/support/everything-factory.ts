// One server object with everything that the conformance suite asks for, in either era.
import { McpServer, type McpServerFactory } from '@modelcontextprotocol/server';
import type { EverythingChanges } from './everything-changes.ts';
import { registerQuestions, verifyRequestState } from './everything-questions.ts';
import { registerPrompts, registerResources } from './everything-resources.ts';
import { registerTools } from './everything-tools.ts';

export function everythingFactory(changes: EverythingChanges): McpServerFactory {
  return ({ era }) => {
    const server = new McpServer(
      { name: 'everything', version: '1.0.0' },
      {
        capabilities: { logging: {}, resources: { subscribe: true } },
        instructions: 'Everything that the conformance suite asks for.',
        requestState: { verify: verifyRequestState },
      },
    );
    registerTools(server, changes);
    registerQuestions(server);
    registerResources(server);
    registerPrompts(server);
    // A modern client subscribes by listening, which the SDK's serving entry answers.
    if (era === 'legacy') acceptSubscriptions(server);
    return server;
  };
}

function acceptSubscriptions(server: McpServer): void {
  server.server.setRequestHandler('resources/subscribe', () => ({}));
  server.server.setRequestHandler('resources/unsubscribe', () => ({}));
}
