// The lines of a stream, as text, one by one: whoever takes them slowly slows down whoever sends them.
import { LineSplitter } from '../servers/stdio/line-splitter.ts';
import type { BufferHold } from '../state/buffer-budget.ts';

export interface ReadLinesOptions {
  readonly maxLineBytes: number;
  /** Counts a line that is not complete yet. */
  readonly hold: BufferHold;
}

/**
 * Skips empty lines, and what is left behind the last line end. Leaving the iteration destroys the stream.
 *
 * @throws RangeError where a line is over the limit, or over what may be held
 */
export async function* readLines(
  chunks: AsyncIterable<Buffer>,
  { maxLineBytes, hold }: ReadLinesOptions,
): AsyncGenerator<string, void> {
  let lines: string[] = [];
  let problem: string | undefined;
  const splitter = new LineSplitter({
    maxLineBytes,
    onLine: (line) => {
      if (line.length > 0) lines.push(line.toString('utf8'));
    },
    onHeld: (bytes) => {
      if (!hold.resize(bytes)) problem = 'there is no room for a line of the answer';
    },
    onOverflow: () => {
      problem = `a line of the answer is over ${maxLineBytes} bytes`;
    },
  });
  try {
    for await (const chunk of chunks) {
      splitter.push(chunk);
      const ready = lines;
      lines = [];
      yield* ready;
      if (problem !== undefined) throw new RangeError(problem);
    }
  } finally {
    splitter.stop();
  }
}
