import { subscribe, unsubscribe } from 'node:diagnostics_channel';

/** Resolves when an HTTP server of this process has read the head of one more request. */
export function nextRequest(): Promise<void> {
  return new Promise((resolve) => {
    const onStart = () => {
      unsubscribe('http.server.request.start', onStart);
      resolve();
    };
    subscribe('http.server.request.start', onStart);
  });
}
