// `gateway.access`: who may do what.

import { list, map, scopeName, section, text } from './schema-kinds.ts';
import { Type } from './schema-type.ts';

const TARGET =
  '`*` for everything, `server` for all of one server, `server/glob` for tools of it, or `server/tools/glob`, ' +
  '`server/prompts/glob`, `server/resources/glob`; in names of the server itself, case matters, `*` stands for ' +
  'anything within a segment, `**` across segments.';

const words = (description: string) =>
  list(text({ description: 'One value.' }), { description, default: [] });

const targets = (description: string) => list(text({ description: TARGET }), { description, default: [] });

const scopes = (description: string) => list(scopeName(), { description });

const ruleSchema = section(
  {
    name: text({ description: 'Required. Names the rule in logs and audit.' }),
    when: Type.Optional(
      section(
        {
          groups: words('Groups, any of them.'),
          scopes: words('Scopes, any of them; a broader one counts, by `scopeImplies`.'),
          subjects: words(
            'Subjects, any of them. Danger: another issuer may have the same ones; name it too.',
          ),
          clients: words('Client ids, any of them.'),
          issuers: words('Issuers, any of them; of API keys it is `portico:api-keys`.'),
        },
        { description: 'Whom it concerns: all lists that are not empty must match. Default: everyone.' },
      ),
    ),
    allow: targets('Targets granted.'),
    deny: targets('Targets refused, whatever other rules grant.'),
    if: Type.Optional(
      text({
        description:
          'A CEL condition, judged at calls alone; lists show what it might grant. Where it errs the rule grants ' +
          'nothing, and what it denies stays denied. Default: none.',
      }),
    ),
  },
  { description: 'One rule.' },
);

export const accessSchema = section(
  {
    rules: list(ruleSchema, { description: 'Rules; what none grants is absent.', default: [] }),
    scopes: map(scopes('Scopes.'), {
      description:
        'By target: scopes that its calls need besides. It is visible without them, and a call is told to get them.',
      default: {},
    }),
    scopeImplies: map(scopes('Scopes that it includes.'), {
      description: 'By scope: the narrower ones that it includes.',
      default: {},
    }),
  },
  { description: 'Who may do what. Default: with sign-in nothing, without it everything.' },
);
