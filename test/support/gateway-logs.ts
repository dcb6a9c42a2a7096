// The log lines of gateways that run in a test's own process, and the wait for one that is still to come.
export type LogLine = Readonly<Record<string, unknown>>;

export class GatewayLogs {
  readonly lines: LogLine[] = [];
  readonly #grew = new EventTarget();

  /** As a logger's destination. */
  write(line: string): void {
    this.lines.push(JSON.parse(line) as LogLine);
    this.#grew.dispatchEvent(new Event('line'));
  }

  /** The line that satisfies `isIt`, be it there already or still to come. */
  async first(isIt: (line: LogLine) => boolean): Promise<LogLine> {
    for (;;) {
      const found = this.lines.find(isIt);
      if (found !== undefined) return found;
      await new Promise((resolve) => this.#grew.addEventListener('line', resolve, { once: true }));
    }
  }
}
