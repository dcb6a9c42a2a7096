// A wait that can be cut short.

export function pause(durationMs: number, cut: AbortSignal): Promise<void> {
  if (durationMs <= 0 || cut.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      cut.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, durationMs);
    cut.addEventListener('abort', done, { once: true });
  });
}
