// What child processes wrote to their standard error last, picked out of the log lines that say so, where it is masked.

const MAX_LINES = 5;
const MAX_CHARACTERS = 300;

export class LastWords {
  readonly #byServer = new Map<string, string[]>();

  /** A line of the log. */
  write(line: string): void {
    const { server, stderr, what } = JSON.parse(line) as Record<string, unknown>;
    if (typeof server !== 'string' || typeof stderr !== 'string') return;
    const lines = stderr.split('\n').filter((text) => text.trim() !== '');
    // The line about the end of a process has all of it once more.
    const known = what === undefined ? (this.#byServer.get(server) ?? []) : [];
    this.#byServer.set(server, [...known, ...lines].slice(-MAX_LINES));
  }

  of(server: string): readonly string[] {
    return (this.#byServer.get(server) ?? []).map((line) => line.slice(0, MAX_CHARACTERS));
  }
}
