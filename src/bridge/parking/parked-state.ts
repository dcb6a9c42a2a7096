// The life of a modern client's call to a legacy server that may ask something meanwhile, as a state machine:
//   open > parked > resumed > parked > ... > answered, or an end before that: expired, cancelled.
// A parked call whose questions the server took back is withdrawn: it needs no answers, only its client.

export type ParkedState = 'open' | 'parked' | 'withdrawn' | 'resumed' | 'answered' | 'expired' | 'cancelled';

export type ParkedEvent =
  /** A question went out as `input_required`; the exchange that carried it is over. */
  | 'park'
  /** The client came back with the state that it was given. */
  | 'resume'
  /** The server took back every question that was open. */
  | 'withdraw'
  /** The server's answer, or a failure, went out to the exchange at hand. */
  | 'answer'
  /** Nobody came back in time. */
  | 'expire'
  /** The client left, or the gateway ends. */
  | 'cancel';

const TRANSITIONS: Readonly<Record<ParkedState, Readonly<Partial<Record<ParkedEvent, ParkedState>>>>> = {
  open: { park: 'parked', answer: 'answered', cancel: 'cancelled' },
  parked: { resume: 'resumed', withdraw: 'withdrawn', expire: 'expired', cancel: 'cancelled' },
  withdrawn: { resume: 'resumed', expire: 'expired', cancel: 'cancelled' },
  resumed: { park: 'parked', answer: 'answered', cancel: 'cancelled' },
  answered: {},
  expired: {},
  cancelled: {},
};

/** The state after `event`, or undefined where the event means nothing in that state. */
export function nextParkedState(state: ParkedState, event: ParkedEvent): ParkedState | undefined {
  return TRANSITIONS[state][event];
}

export function isOver(state: ParkedState): boolean {
  return Object.keys(TRANSITIONS[state]).length === 0;
}
