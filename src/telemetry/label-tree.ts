// Values by several labels, one label a step. A text of all labels as the key of one Map has to be made and hashed each
// time, which takes four times as long (bench: small).

export class LabelTree<T> {
  /** Undefined until somebody sets it. */
  value: T | undefined = undefined;
  #branches: Map<string, LabelTree<T>> | undefined = undefined;

  /** @returns the place of these labels, which is the same each time */
  at(labels: readonly string[]): LabelTree<T> {
    let place: LabelTree<T> = this;
    for (let step = 0; step < labels.length; step += 1) place = place.#branch(labels[step] as string);
    return place;
  }

  #branch(label: string): LabelTree<T> {
    this.#branches ??= new Map();
    let branch = this.#branches.get(label);
    if (branch === undefined) {
      branch = new LabelTree();
      this.#branches.set(label, branch);
    }
    return branch;
  }
}
