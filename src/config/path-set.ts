// Many paths of a config, asked about in the length of a path, however many there are: a file may be wrong in
// thousands of places.
import type { Path } from './source-tree.ts';

interface Branch {
  isMember: boolean;
  readonly below: Map<string | number, Branch>;
}

export class PathSet {
  readonly #root = newBranch();

  constructor(paths: Iterable<Path> = []) {
    for (const path of paths) this.add(path);
  }

  add(path: Path): void {
    let branch = this.#root;
    for (const step of path) {
      const next = branch.below.get(step) ?? newBranch();
      branch.below.set(step, next);
      branch = next;
    }
    branch.isMember = true;
  }

  has(path: Path): boolean {
    let branch: Branch | undefined = this.#root;
    for (const step of path) branch = branch?.below.get(step);
    return branch?.isMember ?? false;
  }

  /** Whether a member is the path itself, or one above it. */
  covers(path: Path): boolean {
    let branch: Branch | undefined = this.#root;
    for (const step of path) {
      if (branch.isMember) return true;
      branch = branch.below.get(step);
      if (branch === undefined) return false;
    }
    return branch.isMember;
  }
}

function newBranch(): Branch {
  return { isMember: false, below: new Map() };
}
