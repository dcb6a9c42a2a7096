// Counts the bytes that this process holds for others: request bodies, answers that clients do not read, messages of
// servers that are half here, what waits for a child's pipe, what sessions could replay. When it gets tight, replays
// give way first, then newcomers are refused: so no crowd of slow clients or servers takes the process down.

export interface BufferHold {
  /** Sets what is held; false, and nothing changed, where the budget has no room. Shrinking always succeeds. */
  resize(bytes: number): boolean;
  /** Sets what is held, room or not: it is in memory already, and what is under way is not cut for it. */
  count(bytes: number): void;
}

/** What could be done without. */
export interface Spare {
  readonly heldBytes: number;
  /** Called once, when the room is needed; it counts no more by then. */
  giveUp(): void;
}

export class BufferBudget {
  /** May change; what is held already stays. */
  maxBytes: number;
  #usedBytes = 0;
  #spareBytes = 0;
  /** Oldest first. */
  readonly #spares = new Set<Spare>();
  readonly #ledger: Ledger = {
    makeRoom: (bytes) => this.#makeRoom(bytes),
    add: (bytes) => {
      this.#usedBytes += bytes;
    },
  };

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  /** All that is held, spares included. */
  get usedBytes(): number {
    return this.#usedBytes;
  }

  get spareBytes(): number {
    return this.#spareBytes;
  }

  /** A share of the budget, at first of nothing. */
  open(): BufferHold {
    return new Share(this.#ledger);
  }

  /** Counts what can be given up, until `release`; false where there is no room for it. */
  keep(spare: Spare): boolean {
    if (!this.#makeRoom(spare.heldBytes)) return false;
    this.#spares.add(spare);
    this.#usedBytes += spare.heldBytes;
    this.#spareBytes += spare.heldBytes;
    return true;
  }

  /** Idempotent. */
  release(spare: Spare): void {
    if (!this.#spares.delete(spare)) return;
    this.#usedBytes -= spare.heldBytes;
    this.#spareBytes -= spare.heldBytes;
  }

  /** Gives up spares, the oldest first, until `bytes` more fit. @returns whether they do */
  #makeRoom(bytes: number): boolean {
    for (const spare of this.#spares) {
      if (this.#usedBytes + bytes <= this.maxBytes) break;
      this.release(spare);
      spare.giveUp();
    }
    return this.#usedBytes + bytes <= this.maxBytes;
  }
}

interface Ledger {
  makeRoom(bytes: number): boolean;
  add(bytes: number): void;
}

/** Each request has several, so it is one small object. */
class Share implements BufferHold {
  readonly #ledger: Ledger;
  #heldBytes = 0;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  resize(bytes: number): boolean {
    const more = bytes - this.#heldBytes;
    if (more > 0 && !this.#ledger.makeRoom(more)) return false;
    this.#set(bytes);
    return true;
  }

  count(bytes: number): void {
    const more = bytes - this.#heldBytes;
    if (more > 0) this.#ledger.makeRoom(more);
    this.#set(bytes);
  }

  #set(bytes: number): void {
    this.#ledger.add(bytes - this.#heldBytes);
    this.#heldBytes = bytes;
  }
}
