// What a rule finds wrong with plain values; where they stand in a file is no concern of the rule's.

export interface Fault {
  readonly message: string;
  readonly hint: string;
}

export function fault(message: string, hint: string): Fault {
  return { message, hint };
}
