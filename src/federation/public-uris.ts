// URIs of resources where several servers are served as one: `{server}+{uri}`, and `ui://{server}+...` for the pages
// of MCP Apps, whose scheme hosts look at. Addresses on the web, and data, are what they are: they stay.

export interface UriOwner {
  /** The server's slug. */
  readonly server: string;
  readonly uri: string;
}

const UNCHANGED = /^(?:https?|data):/i;
const APP_PAGE = /^ui:\/\//i;
/** A URI has a scheme; a text such as `docs+search` has none, and is no resource of `docs`. */
const SCHEME = /^[a-z][a-z0-9+.-]*:/i;

/** Whether it is the same at every server, so that no server can be read off it. */
export function isEverywhere(uri: string): boolean {
  return UNCHANGED.test(uri);
}

/** Of a URI or a template of URIs, as a client is to see it. */
export function publicUri(server: string, uri: string): string {
  if (UNCHANGED.test(uri)) return uri;
  const [scheme = ''] = APP_PAGE.exec(uri) ?? [];
  return `${scheme}${server}+${uri.slice(scheme.length)}`;
}

/**
 * Whose it is, read off the part before the first `+`. Slugs hold no `+`, so what a server's own URI holds of them
 * does no harm.
 *
 * @param isServer whether there is a server of that slug
 * @returns undefined where it names no server: it is routed by what servers list, if at all
 */
export function ownUri(uri: string, isServer: (slug: string) => boolean): UriOwner | undefined {
  if (UNCHANGED.test(uri)) return undefined;
  const [scheme = ''] = APP_PAGE.exec(uri) ?? [];
  const rest = uri.slice(scheme.length);
  const end = rest.indexOf('+');
  if (end <= 0) return undefined;
  const server = rest.slice(0, end);
  const own = scheme + rest.slice(end + 1);
  // `git+https://...` is a text of its own, and no address of the server `git`.
  return isServer(server) && publicUri(server, own) === uri ? { server, uri: own } : undefined;
}

/** An argument that a client took from a resource of ours, as its server knows it; any other text as it is. */
export function ownText(server: string, text: string): string {
  const own = ownUri(text, (slug) => slug === server);
  return own !== undefined && SCHEME.test(own.uri) ? own.uri : text;
}
