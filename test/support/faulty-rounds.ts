// A server of the new era that asks in several rounds: where it stands is in the state that it hands out.

type Members = Record<string, unknown>;

/** The questions of each round by their key; a round without any says only that the client is to come again. */
type Rounds = readonly (Members | null)[];

/** What the server needs before it can answer; undefined when every round is through. */
export function nextRound({ requestState }: Members, args: Members): Members | undefined {
  const rounds = args.rounds as Rounds;
  const at = requestState === undefined ? 0 : Number(String(requestState).replace('round-', ''));
  const index = args.endless === true ? Math.min(at, rounds.length - 1) : at;
  if (index >= rounds.length) return undefined;
  const inputRequests = rounds[index] ?? undefined;
  return {
    resultType: 'input_required',
    ...(inputRequests && { inputRequests }),
    requestState: `round-${at + 1}`,
  };
}
