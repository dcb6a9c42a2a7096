// Who can sign in at the demo.

export interface Person {
  readonly name: string;
  readonly password: string;
  readonly groups: readonly string[];
  /** By the rules in portico.yaml. */
  readonly sees: string;
}

export const PEOPLE: readonly Person[] = [
  {
    name: 'ada',
    password: 'analytical-engine',
    groups: ['eng'],
    sees: 'every tool; get-env asks her for a wider consent',
  },
  {
    name: 'bob',
    password: 'closing-the-deal',
    groups: ['sales'],
    sees: 'echo, get-sum and get-structured-content',
  },
];

export function peopleTable(): string {
  const rows = [
    ['name', 'password', 'group', 'sees'],
    ...PEOPLE.map(({ name, password, groups, sees }) => [name, password, groups.join(), sees]),
  ];
  const widths = [6, 20, 8, 0];
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('')
        .trimEnd(),
    )
    .join('\n');
}
