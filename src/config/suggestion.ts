// "Did you mean": the known word nearest to one that is not known.

/** The candidate within reach of a typing slip or two, else one that the word is part of, or undefined. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const known = fold(word);
  let best = known.length < 4 ? undefined : candidates.find((candidate) => fold(candidate).includes(known));
  let bestDistance = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(known, fold(candidate));
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** `public_url`, `public-url` and `PublicURL` are all slips for `publicUrl`. */
function fold(word: string): string {
  return word.toLowerCase().replace(/[-_\s]/g, '');
}

/** Insertions, deletions, substitutions and swaps of neighbours (optimal string alignment). */
function editDistance(from: string, to: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const same = from[row - 1] === to[column - 1];
      let cost = Math.min(
        at(previous, column) + 1,
        at(current, column - 1) + 1,
        at(previous, column - 1) + (same ? 0 : 1),
      );
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (swapped && row > 1 && column > 1) cost = Math.min(cost, at(beforePrevious, column - 2) + 1);
      current.push(cost);
    }
    [beforePrevious, previous] = [previous, current];
  }
  return at(previous, to.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
