// Counters and histograms whose children are plain numbers, printed by prom-client. Its own look their values up by a
// text of their labels each time, which costs several microseconds a call (bench: small).
import type { Metric, Registry } from 'prom-client';
import { LabelTree } from './label-tree.ts';

export interface PlainMetricOptions {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
  readonly registry: Registry;
}

interface Sample {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  readonly metricName?: string;
}

/** To be bound once for each combination of labels. */
export interface CounterChild {
  inc(): void;
}
export interface HistogramChild {
  observe(value: number): void;
}

abstract class PlainMetric<Child> {
  readonly name: string;
  readonly help: string;
  abstract readonly type: 'counter' | 'histogram';
  readonly #labelNames: readonly string[];
  readonly #children: Child[] = [];
  readonly #byLabels = new LabelTree<Child>();

  constructor({ name, help, labelNames, registry }: PlainMetricOptions) {
    this.name = name;
    this.help = help;
    this.#labelNames = labelNames;
    // All that a registry asks of a metric is its name, and `get` at a scrape.
    registry.registerMetric(this as unknown as Metric<string>);
  }

  /** In the order of the names. */
  labels(...values: readonly string[]): Child {
    const place = this.#byLabels.at(values);
    if (place.value === undefined) {
      const labels = Object.fromEntries(this.#labelNames.map((name, at) => [name, values[at] ?? '']));
      place.value = this.newChild(labels);
      this.#children.push(place.value);
    }
    return place.value;
  }

  async get(): Promise<object> {
    const values = this.#children.flatMap((child) => this.samplesOf(child));
    return { name: this.name, help: this.help, type: this.type, values, aggregator: 'sum' };
  }

  protected abstract newChild(labels: Readonly<Record<string, string>>): Child;
  protected abstract samplesOf(child: Child): readonly Sample[];
}

class Count implements CounterChild {
  readonly labels: Readonly<Record<string, string>>;
  value = 0;

  constructor(labels: Readonly<Record<string, string>>) {
    this.labels = labels;
  }

  inc(): void {
    this.value += 1;
  }
}

export class PlainCounter extends PlainMetric<Count> {
  readonly type = 'counter';

  protected newChild(labels: Readonly<Record<string, string>>): Count {
    return new Count(labels);
  }

  protected samplesOf({ labels, value }: Count): readonly Sample[] {
    return [{ labels, value }];
  }
}

class Distribution implements HistogramChild {
  readonly labels: Readonly<Record<string, string>>;
  readonly bounds: readonly number[];
  /** One for each bound, and one beyond. */
  readonly counts: Float64Array;
  sum = 0;

  constructor(labels: Readonly<Record<string, string>>, bounds: readonly number[]) {
    this.labels = labels;
    this.bounds = bounds;
    this.counts = new Float64Array(bounds.length + 1);
  }

  observe(value: number): void {
    let at = 0;
    while (at < this.bounds.length && value > (this.bounds[at] as number)) at += 1;
    this.counts[at] = (this.counts[at] as number) + 1;
    this.sum += value;
  }
}

export class PlainHistogram extends PlainMetric<Distribution> {
  readonly type = 'histogram';
  readonly #bounds: readonly number[];

  constructor(options: PlainMetricOptions & { readonly bounds: readonly number[] }) {
    super(options);
    this.#bounds = options.bounds;
  }

  protected newChild(labels: Readonly<Record<string, string>>): Distribution {
    return new Distribution(labels, this.#bounds);
  }

  protected samplesOf({ labels, bounds, counts, sum }: Distribution): readonly Sample[] {
    let count = 0;
    const buckets = [...bounds, '+Inf'].map((le, at): Sample => {
      count += counts[at] ?? 0;
      return { metricName: `${this.name}_bucket`, labels: { le, ...labels }, value: count };
    });
    return [
      ...buckets,
      { metricName: `${this.name}_sum`, labels, value: sum },
      { metricName: `${this.name}_count`, labels, value: count },
    ];
  }
}
