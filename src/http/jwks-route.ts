// The keys that Portico signs with, for servers that are told who calls: open to everyone, for that is what they are
// for.
import type { FastifyInstance } from 'fastify';
import type { PublishedKeys } from '../access/identity-keys.ts';
import { type OpenDocumentOptions, registerOpenDocument } from './open-document.ts';

export interface JwksRouteOptions extends OpenDocumentOptions {
  /** Undefined where nothing is signed. */
  keys(): PublishedKeys | undefined;
}

const PATH = '/.well-known/jwks.json';

/** At the root of the host, and below the base path where there is one, as a proxy may pass on that alone. */
export function registerJwksRoute(app: FastifyInstance, options: JwksRouteOptions): void {
  const paths = new Set([PATH, options.basePath + PATH]);
  for (const path of paths) registerOpenDocument(app, path, { ...options, document: () => options.keys() });
}
