// The whole config file, as it is written (docs/configuration.md is made from this, and config/portico.schema.json).

import { gatewayKeys } from './gateway-schema.ts';
import { map, section, standingSection } from './schema-kinds.ts';
import type { SchemaNode } from './schema-node.ts';
import { type Static, type TSchema, Type } from './schema-type.ts';
import { serverSchema } from './server-schema.ts';

export const configSchema = section(
  {
    $schema: Type.Optional(
      Type.String({ description: 'The JSON Schema of this file, for editors; ignored here. Default: none.' }),
    ),
    mcpServers: map(serverSchema, {
      description:
        'Required. The servers by name, in the order in which their tools are listed. A name becomes a slug for paths ' +
        'and prefixes; two names with one slug are refused.',
    }),
    gateway: standingSection(gatewayKeys, { description: 'Portico itself.' }),
  },
  { description: 'Configuration of Portico.' },
);

/** The same, for code that walks it. */
export const configSchemaNode = configSchema as TSchema as SchemaNode;

/** A checked file with every default in place; durations, sizes and paths still as written. */
export type ConfigFile = Static<typeof configSchema>;
export type ServerEntry = Static<typeof serverSchema>;
export type GatewaySection = ConfigFile['gateway'];
