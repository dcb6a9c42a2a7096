// What is carried between the eras: the rows of docs/eras.md, each held by tests of test/e2e/eras.test.ts.

export const ERA_FEATURES = [
  'introduction',
  'tools',
  'resources and templates',
  'prompts',
  'completion',
  'pagination',
  'caching hints',
  '`_meta` and unknown fields',
  'errors',
  'progress',
  'cancellation',
  'logging',
  'list changes',
  'resource updates',
  'elicitation, form',
  'elicitation, url',
  'sampling',
  'sampling with tools',
  'roots',
  'several rounds',
] as const;

/** The columns. */
export const ERA_COMBINATIONS = (['legacy', 'modern'] as const).flatMap((client) =>
  (['legacy', 'modern'] as const).map((server) => `${client} client, ${server} server` as const),
);

export type EraFeature = (typeof ERA_FEATURES)[number];
