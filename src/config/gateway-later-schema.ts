// Keys of `gateway` whose capability is not built yet: their shape is promised, their use refused.
import { choice, integer, later, section, text } from './schema-kinds.ts';

const secretText = (description: string) => text({ description, secret: true });

const namesSchema = choice(['auto', 'prefixed'], {
  description:
    'Names of tools and prompts on /mcp. auto: untouched while one server is configured, else with the prefix of their ' +
    'server. prefixed: always with it.',
  default: 'auto',
});

export const laterGatewayKeys = {
  names: namesSchema,
  replica: later(
    section(
      {
        listen: section(
          {
            host: text({ description: 'Required. Address to listen on.' }),
            port: integer({ description: 'Required. Port to listen on.', minimum: 0, maximum: 65_535 }),
          },
          { description: 'Required. The listener for other replicas.' },
        ),
        url: text({ description: 'Required. Where the other replicas reach this one.' }),
        secret: secretText(
          'Required. Shared by all replicas. Danger: whoever holds it speaks for any caller.',
        ),
      },
      { description: 'Where other replicas reach this one. Default: it is the only one.' },
    ),
  ),
};
