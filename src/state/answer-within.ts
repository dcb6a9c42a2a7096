// Bounds the wait for an answer off a socket.

/**
 * Rejects with what `late` makes when the answer is not there in time. Where the process itself was busy, an answer
 * that is long there has not been read yet when the timer fires: timers come before sockets. So the socket gets one more
 * turn of the loop before its time counts as over.
 */
export async function answerWithin<T>(answer: Promise<T>, timeoutMs: number, late: () => Error): Promise<T> {
  const { promise: expired, reject } = Promise.withResolvers<never>();
  let turn: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    turn = setImmediate(() => reject(late()));
  }, timeoutMs);
  // Whoever has stopped waiting does not hear of a failure that comes later.
  answer.catch(() => {});
  try {
    return await Promise.race([answer, expired]);
  } finally {
    clearTimeout(timer);
    clearImmediate(turn);
  }
}
