// Whether a figure stayed where it was once the gateway was warm. Pure.
import { median } from '../support/median.ts';

export interface Margin {
  /** What the later median may be of the earlier one. */
  readonly factor: number;
  /** And what may come on top, in the figure's own unit. */
  readonly plus: number;
  /** Growth up to here is no growth: what a warm gateway takes, which a short soak may reach late. */
  readonly warm?: number;
}

export interface Flatness {
  readonly early: number;
  readonly late: number;
  readonly flat: boolean;
}

/** Compares the median of the second third with that of the last one: the first third is the warm-up. */
export function flatness(samples: readonly number[], { factor, plus, warm = 0 }: Margin): Flatness {
  const third = Math.floor(samples.length / 3);
  const early = median(samples.slice(third, 2 * third));
  const late = median(samples.slice(2 * third));
  return { early, late, flat: late <= Math.max(early * factor + plus, warm) };
}
