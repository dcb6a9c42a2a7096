// The revisions that the suite is run at. Its client offers the newest legacy revision always, so the older ones
// take a shim in between; and only two have a list of required scenarios.

export interface Revision {
  readonly name: string;
  readonly era: 'legacy' | 'modern';
  /** How the suite chooses its scenarios and the schema that it holds messages against. */
  readonly suiteArgs: readonly string[];
  readonly viaShim: boolean;
}

/** Every scenario of the oldest revision that the suite has more than one for. */
const OLDER = ['--suite', 'all', '--spec-version', '2025-06-18'];

export const REVISIONS: readonly Revision[] = [
  { name: '2025-03-26', era: 'legacy', suiteArgs: OLDER, viaShim: true },
  { name: '2025-06-18', era: 'legacy', suiteArgs: OLDER, viaShim: true },
  { name: '2025-11-25', era: 'legacy', suiteArgs: ['--requirements', '2025-11-25'], viaShim: false },
  { name: '2026-07-28', era: 'modern', suiteArgs: ['--requirements', '2026-07-28'], viaShim: false },
];
