// What tokens for us are issued for: `{publicUrl}/mcp`, and `{publicUrl}/mcp/{view}` for one view alone. Made from
// the configured text, never from a parsed URL, whose `href` may differ in a slash or a letter (RFC 9728, section 3.3).

export interface ResourceIdentifiers {
  /** As configured; what the metadata document says. */
  identifierOf(view: string | undefined): string;
  /** Where the metadata document of a view is: the well-known segment goes between host and path. */
  metadataUrlOf(view: string | undefined): string;
  /** What a token with these audiences opens, as far as they name us. */
  viewsOpenedBy(audiences: readonly string[]): OpenedViews;
}

/** `every` is `/mcp` and each `/mcp/{view}`; a set names the views that are opened. */
export type OpenedViews = 'every' | ReadonlySet<string>;

export const METADATA_PATH = '/.well-known/oauth-protected-resource';
const PUBLIC_URL = /^(https?:\/\/[^/?#]+)(.*)$/i;
/** Of a server or, behind a tilde, of a toolset. */
const VIEW_NAME = /^~?[a-z](?:[a-z0-9.-]{0,30}[a-z0-9])?$/;
const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'https:': '443', 'http:': '80' };

/** Whether `/mcp/{name}` could exist; nothing is said about whether it does. */
export function isViewName(name: string): boolean {
  return VIEW_NAME.test(name);
}

/** Text before the path, and the base path: empty, or `/base` without a slash at its end. */
export function splitPublicUrl(publicUrl: string): { origin: string; basePath: string } {
  const [, origin = publicUrl, basePath = ''] = PUBLIC_URL.exec(publicUrl) ?? [];
  return { origin, basePath: basePath.replace(/\/+$/, '') };
}

export function resourceIdentifiers(publicUrl: string): ResourceIdentifiers {
  const { origin, basePath } = splitPublicUrl(publicUrl);
  const pathOf = (view: string | undefined) => `${basePath}/mcp${view === undefined ? '' : `/${view}`}`;
  const equivalents = equivalentOrigins(origin).map((text) => `${text}${basePath}/mcp`);

  return {
    identifierOf: (view) => origin + pathOf(view),
    metadataUrlOf: (view) => origin + METADATA_PATH + pathOf(view),
    viewsOpenedBy(audiences) {
      const views = new Set<string>();
      for (const audience of audiences.map(withLowerCaseOrigin)) {
        const resource = equivalents.find((text) => audience.startsWith(text));
        if (resource === undefined) continue;
        const rest = audience.slice(resource.length);
        if (rest === '' || rest === '/') return 'every';
        // One slash at the end is an equivalent, as the specification allows for; nothing else is.
        const name = /^\/([^/]+)\/?$/.exec(rest)?.[1] ?? '';
        if (isViewName(name)) views.add(name);
      }
      return views;
    },
  };
}

/**
 * The texts that stand for one origin: as configured and as URL libraries write it, without and with the default
 * port. The list is closed; what is not on it is somebody else's resource.
 */
function equivalentOrigins(origin: string): readonly string[] {
  const { protocol, hostname, port } = new URL(origin);
  const bare = `${protocol}//${hostname}`;
  const known = port === '' ? [bare, `${bare}:${DEFAULT_PORTS[protocol]}`] : [`${bare}:${port}`];
  return [...new Set([...known, origin.toLowerCase()])];
}

/** Scheme and host are the case-insensitive part of a URL (RFC 3986, section 6.2.2.1). */
function withLowerCaseOrigin(audience: string): string {
  return audience.replace(/^[^/]+:\/\/[^/]*/, (origin) => origin.toLowerCase());
}
