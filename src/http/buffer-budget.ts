// Counts the bytes that exchanges hold in memory: request bodies, and answers that clients do not read. Over the
// bound a newcomer is refused, so that a crowd of slow clients cannot take the process down.

export class BufferBudget {
  /** May change; what is held already stays. */
  maxBytes: number;
  #usedBytes = 0;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }

  /** A share of the budget, at first of nothing. */
  open(): BufferHold {
    let heldBytes = 0;
    return {
      resize: (bytes) => {
        const usedBytes = this.#usedBytes + bytes - heldBytes;
        if (bytes > heldBytes && usedBytes > this.maxBytes) return false;
        this.#usedBytes = usedBytes;
        heldBytes = bytes;
        return true;
      },
    };
  }
}

export interface BufferHold {
  /** Sets what is held; false, and nothing changed, where the budget has no room. Shrinking always succeeds. */
  resize(bytes: number): boolean;
}
