// The conformance suite's resources and prompts, with completions that depend on what was typed.
import { completable, type McpServer, ResourceTemplate } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { embeddedText, IMAGE, PNG_BASE64, userMessage } from './everything-content.ts';

const WORDS = ['paris', 'park', 'party', 'test', 'testing'];

export function registerResources(server: McpServer): void {
  const text = (uri: string, body: string) => () => ({
    contents: [{ uri, mimeType: 'text/plain', text: body }],
  });
  server.registerResource(
    'static-text',
    'test://static-text',
    { description: 'Text that never changes', mimeType: 'text/plain' },
    text('test://static-text', 'This is the content of the static text resource.'),
  );
  server.registerResource(
    'watched-resource',
    'test://watched-resource',
    { description: 'A resource to subscribe to', mimeType: 'text/plain' },
    text('test://watched-resource', 'Watched content.'),
  );
  server.registerResource(
    'static-binary',
    'test://static-binary',
    { description: 'One red pixel', mimeType: 'image/png' },
    () => ({ contents: [{ uri: 'test://static-binary', mimeType: 'image/png', blob: PNG_BASE64 }] }),
  );
  const template = new ResourceTemplate('test://template/{id}/data', {
    list: undefined,
    complete: { id: (typed) => ['1', '12', '123'].filter((id) => id.startsWith(typed)) },
  });
  server.registerResource(
    'template',
    template,
    { description: 'Data of one id', mimeType: 'application/json' },
    (uri, { id }) => {
      const data = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
      return { contents: [{ uri: uri.href, mimeType: 'application/json', text: data }] };
    },
  );
}

export function registerPrompts(server: McpServer): void {
  server.registerPrompt('test_simple_prompt', { description: 'One message' }, () => ({
    messages: [userMessage('This is a simple prompt for testing.')],
  }));
  const word = () => completable(z.string(), (typed) => WORDS.filter((known) => known.startsWith(typed)));
  server.registerPrompt(
    'test_prompt_with_arguments',
    { description: 'Repeats its arguments', argsSchema: z.object({ arg1: word(), arg2: z.string() }) },
    ({ arg1, arg2 }) => ({
      messages: [userMessage(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)],
    }),
  );
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'Embeds a resource', argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri }) => ({
      messages: [
        userMessage(embeddedText(resourceUri, 'Embedded resource content for testing.')),
        userMessage('Please process the embedded resource above.'),
      ],
    }),
  );
  server.registerPrompt('test_prompt_with_image', { description: 'Shows an image' }, () => ({
    messages: [userMessage(IMAGE), userMessage('Please analyze the image above.')],
  }));
}
