// The Protected Resource Metadata documents (RFC 9728), one a view: open to all, since this is where a client that
// cannot sign in yet learns how. Says the same of views that do not exist.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { isViewName, METADATA_PATH } from '../access/sign-in/resource-identifiers.ts';
import type { ResourceMetadata } from '../access/sign-in/resource-metadata.ts';
import { type OpenDocumentOptions, registerOpenDocument } from './open-document.ts';

export interface WellKnownRoutesOptions extends OpenDocumentOptions {
  /** Undefined where there is nowhere to sign in. */
  metadata(view: string | undefined): ResourceMetadata | undefined;
}

export function registerWellKnownRoutes(app: FastifyInstance, options: WellKnownRoutesOptions): void {
  const { basePath, metadata } = options;
  const endpoint = `${METADATA_PATH}${basePath}/mcp`;
  // The root document, and the one of the base path where there is one, describe `/mcp`.
  const paths = [...new Set([METADATA_PATH, METADATA_PATH + basePath]), endpoint, `${endpoint}/:view`];
  const document = ({ params }: FastifyRequest) => {
    const { view } = params as { view?: string };
    return view === undefined || isViewName(view) ? metadata(view) : undefined;
  };
  for (const path of paths.flatMap((path) => [path, `${path}/`])) {
    registerOpenDocument(app, path, { ...options, document });
  }
}
