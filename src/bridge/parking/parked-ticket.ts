// What the sealed state of a parked call says: which call it is, which of its rounds, and on which replica it waits.

export interface ParkedTicket {
  /** Undefined where there is but one replica. */
  readonly replica: string | undefined;
  readonly id: string;
  readonly round: number;
}

const TICKET = /^parked (?:([\w-]+) )?([\w-]+) (\d+)$/;

export function writeTicket({ replica, id, round }: ParkedTicket): string {
  return ['parked', ...(replica === undefined ? [] : [replica]), id, round].join(' ');
}

/** Undefined for what is no ticket. */
export function readTicket(text: string): ParkedTicket | undefined {
  const [, replica, id, round] = TICKET.exec(text) ?? [];
  return id === undefined ? undefined : { replica, id, round: Number(round) };
}
