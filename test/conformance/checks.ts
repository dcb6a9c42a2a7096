// What a run of the official suite found, and what of it is lost on another way to the same server. Checks are
// compared one by one: the suite's exit code forgives warnings and whatever a scenario did not get to.

/** As the suite writes it to `checks.json`; `INFO` and `SKIPPED` say nothing about the server. */
export interface Check {
  readonly id: string;
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  readonly errorMessage?: string;
}

/** All checks of one run, by scenario. */
export type SuiteRun = ReadonlyMap<string, readonly Check[]>;

export interface LostCheck {
  /** `scenario/check-id`; a scenario may make one check several times. */
  readonly name: string;
  readonly times: number;
  /** What the suite said, where it said anything. */
  readonly message: string | undefined;
}

export interface Score {
  readonly passed: number;
  /** Those that passed and those that failed. */
  readonly scored: number;
}

export function tally(run: SuiteRun): Score {
  const statuses = [...run.values()].flat().map((check) => check.status);
  const passed = statuses.filter((status) => status === 'SUCCESS').length;
  return { passed, scored: passed + statuses.filter((status) => status === 'FAILURE').length };
}

/** Checks that pass more often in `direct` than in `through`, a check that was never made counting as not passed. */
export function lostChecks(direct: SuiteRun, through: SuiteRun): LostCheck[] {
  const lost: LostCheck[] = [];
  for (const [scenario, checks] of direct) {
    const made = through.get(scenario) ?? [];
    for (const [id, wanted] of passesById(checks)) {
      const times = wanted - (passesById(made).get(id) ?? 0);
      if (times <= 0) continue;
      const failed = made.find((check) => check.id === id && check.status !== 'SUCCESS');
      const otherFailure = made.find((check) => check.status === 'FAILURE');
      const message = failed?.errorMessage ?? failed?.status ?? otherFailure?.errorMessage;
      lost.push({ name: `${scenario}/${id}`, times, message });
    }
  }
  return lost;
}

function passesById(checks: readonly Check[]): Map<string, number> {
  const passes = new Map<string, number>();
  for (const { id, status } of checks) {
    if (status === 'SUCCESS') passes.set(id, (passes.get(id) ?? 0) + 1);
  }
  return passes;
}
