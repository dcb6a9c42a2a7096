// Times as logs and the audit file have them: to a hundredth of a millisecond.

export function roundedMs(milliseconds: number | undefined): number | undefined {
  return milliseconds === undefined ? undefined : Math.round(milliseconds * 100) / 100;
}
