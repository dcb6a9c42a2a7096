// Loaded into a gateway of its own process with --expose-gc: on SIGUSR2 it says what memory is held, without garbage.
process.on('SIGUSR2', () => {
  const collectGarbage = (globalThis as { gc?: () => void }).gc;
  // What finalizers let go of is garbage of the next round.
  for (let round = 0; round < 3; round += 1) collectGarbage?.();
  const { heapUsed, external, rss } = process.memoryUsage();
  process.stderr.write(`held ${JSON.stringify({ heapUsed, external, rss })}\n`);
});
