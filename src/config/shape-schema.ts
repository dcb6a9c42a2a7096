// What of a server's tools clients get to see, and in which words: keys of one entry of `mcpServers`.

import { list, map, section, standingSection, text } from './schema-kinds.ts';
import { Type } from './schema-type.ts';

const toolGlob = () => text({ description: 'A glob of names.' });

const hint = (description: string) => Type.Optional(Type.Boolean({ description }));

/** The members that the protocol knows, and others for rules to ask about. */
const annotationsSchema = Object.assign(
  section(
    {
      title: Type.Optional(text({ description: 'A title to show. Default: none.' })),
      readOnlyHint: hint('It changes nothing. Default: not said.'),
      destructiveHint: hint('It may destroy something. Default: not said.'),
      idempotentHint: hint('A second call with the same arguments changes nothing more. Default: not said.'),
      openWorldHint: hint('It reaches beyond the server. Default: not said.'),
    },
    {
      description:
        "Annotations in place of all of the tool's own, with any further members. Clients see them, and so do " +
        'conditions of rules, which never see those of the server. Default: its own, for clients alone.',
    },
  ),
  { additionalProperties: true },
);

const overrideSchema = section(
  {
    name: Type.Optional(
      text({
        description:
          'The name to show; its own is then no name of a tool. Access rules and limits go on with its own. ' +
          'Default: its own.',
        pattern: '^[A-Za-z0-9_.-]{1,128}$',
        words: 'at most 128 letters, digits, _, - or .',
      }),
    ),
    description: Type.Optional(text({ description: 'The description to show. Default: its own.' })),
    annotations: Type.Optional(annotationsSchema),
  },
  { description: 'One tool, by its own name.' },
);

export const shapeKeys = {
  tools: standingSection(
    {
      allow: list(toolGlob(), {
        description:
          "Globs of the tools that exist, by the server's own names; `*` alone stands for all. Danger: tools that " +
          'the server gains later exist too where a glob matches them.',
        default: ['*'],
      }),
      deny: list(toolGlob(), {
        description: 'Globs of tools that do not, whatever `allow` says.',
        default: [],
      }),
    },
    { description: 'Which of its tools exist at all, for everybody and before any access rule.' },
  ),
  overrides: standingSection(
    { tools: map(overrideSchema, { description: 'Tools to rename or to describe anew.', default: {} }) },
    { description: 'What clients see in place of what the server says.' },
  ),
};
