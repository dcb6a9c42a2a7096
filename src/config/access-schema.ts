// Who may do what: promised, not available yet.
import { Type } from 'typebox';
import { list, map, section, text } from './schema-kinds.ts';

const words = (description: string) =>
  list(text({ description: 'One value.' }), { description, default: [] });

const ruleSchema = section(
  {
    name: text({ description: 'Required. Names the rule in logs and audit.' }),
    when: Type.Optional(
      section(
        {
          groups: words('Groups, any of them.'),
          scopes: words('Scopes, any of them.'),
          subjects: words('Subjects, any of them.'),
          clients: words('Client ids, any of them.'),
          issuers: words('Issuers, any of them.'),
        },
        { description: 'Whom it concerns: all lists given must match. Default: everyone.' },
      ),
    ),
    allow: words('Targets granted.'),
    deny: words('Targets refused, whatever other rules grant.'),
    if: Type.Optional(
      text({
        description: 'A CEL condition, judged at the call; where it errs nothing is granted. Default: none.',
      }),
    ),
  },
  { description: 'One rule.' },
);

export const accessSchema = section(
  {
    rules: list(ruleSchema, { description: 'Rules; what none grants is absent.', default: [] }),
    scopes: map(list(text({ description: 'A scope.' }), { description: 'Scopes.' }), {
      description: 'Scopes that a call of a target needs besides.',
      default: {},
    }),
    scopeImplies: map(list(text({ description: 'A scope.' }), { description: 'Scopes.' }), {
      description: 'Scopes that a scope includes.',
      default: {},
    }),
  },
  { description: 'Who may do what. Default: with sign-in nothing, without it everything.' },
);
