// What a person sees of the authorization server: a page to sign in, and one that says who asks for what.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Provider } from 'oidc-provider';

export interface SignInPagesOptions {
  /** Whoever is not among them signs in with any. */
  readonly passwords: Readonly<Record<string, string>>;
}

type Interaction = Awaited<ReturnType<Provider['interactionDetails']>>;

/** For `interactions.url`; the pages are there alone, all else is the provider's own. */
export const interactionPath = (uid: string): string => `/interaction/${uid}`;

export function signInPages(provider: Provider, { passwords }: SignInPagesOptions): RequestListener {
  const otherwise = provider.callback();

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const interaction = await provider.interactionDetails(request, response);
    if (request.method !== 'POST') return show(response, await pageOf(interaction));
    const form = new URLSearchParams(await text(request));
    if (form.get('answer') === 'deny') {
      const refusal = { error: 'access_denied', error_description: 'The user said no' };
      return provider.interactionFinished(request, response, refusal);
    }
    if (interaction.prompt.name === 'consent') {
      const consent = { grantId: await grantAll(provider, interaction) };
      return provider.interactionFinished(request, response, { consent }, { mergeWithLastSubmission: true });
    }
    const login = form.get('login') ?? '';
    const expected = Object.hasOwn(passwords, login) ? passwords[login] : form.get('password');
    if (login === '' || form.get('password') !== expected) return show(response, signInPage(WRONG_PASSWORD));
    return provider.interactionFinished(request, response, { login: { accountId: login } });
  }

  async function pageOf({ prompt, params }: Interaction): Promise<string> {
    if (prompt.name === 'login') return signInPage();
    const client = await provider.Client.find(String(params.client_id));
    return consentPage({
      clientName: client?.clientName ?? String(params.client_id),
      redirectHost: new URL(String(params.redirect_uri)).host,
      resource: String(params.resource ?? 'your account'),
      scopes: String(params.scope ?? '').split(' '),
      isNew: newScopes(prompt),
    });
  }

  return (request, response) => {
    if (!request.url?.startsWith(interactionPath(''))) {
      otherwise(request, response);
      return;
    }
    answer(request, response).catch((thrown) => {
      response.writeHead(400, HTML).end(page('That did not work', `<p>${escapeHtml(String(thrown))}</p>`));
    });
  };
}

async function grantAll(provider: Provider, interaction: Interaction): Promise<string> {
  const { prompt, params, session, grantId } = interaction;
  const known = grantId === undefined ? undefined : await provider.Grant.find(grantId);
  const owner = { accountId: session?.accountId ?? '', clientId: String(params.client_id) };
  const grant = known ?? new provider.Grant(owner);
  const { oidc, resources } = missing(prompt);
  if (oidc.length > 0) grant.addOIDCScope(oidc.join(' '));
  for (const [resource, scopes] of resources) grant.addResourceScope(resource, scopes.join(' '));
  return grant.save();
}

function missing({ details }: Interaction['prompt']): {
  oidc: readonly string[];
  resources: readonly (readonly [string, readonly string[]])[];
} {
  const { missingOIDCScope = [], missingResourceScopes = {} } = details as {
    missingOIDCScope?: readonly string[];
    missingResourceScopes?: Readonly<Record<string, readonly string[]>>;
  };
  return { oidc: missingOIDCScope, resources: Object.entries(missingResourceScopes) };
}

function newScopes(prompt: Interaction['prompt']): (scope: string) => boolean {
  const { oidc, resources } = missing(prompt);
  const all = new Set([...oidc, ...resources.flatMap(([, scopes]) => scopes)]);
  return (scope) => all.has(scope);
}

const WRONG_PASSWORD = '<p role="alert">No such user, or not this password.</p>';

function signInPage(alert = ''): string {
  return page(
    'Sign in',
    `${alert}<form method="post"><input type="hidden" name="prompt" value="login">
    <label>Name <input name="login" autocomplete="username" autofocus required></label>
    <label>Password <input name="password" type="password" autocomplete="current-password" required></label>
    <button>Sign in</button></form>`,
  );
}

interface Consent {
  readonly clientName: string;
  /** Where the answer goes: a name is only what a client says of itself. */
  readonly redirectHost: string;
  readonly resource: string;
  readonly scopes: readonly string[];
  isNew(scope: string): boolean;
}

function consentPage({ clientName, redirectHost, resource, scopes, isNew }: Consent): string {
  const items = scopes.map(
    (scope) => `<li><code>${escapeHtml(scope)}</code>${isNew(scope) ? ' <em>new</em>' : ''}</li>`,
  );
  return page(
    'Allow access?',
    `<p><b>${escapeHtml(clientName)}</b>, which gets its answer at <b>${escapeHtml(redirectHost)}</b>, asks for access to
    <code>${escapeHtml(resource)}</code> with:</p><ul>${items.join('')}</ul>
    <form method="post"><input type="hidden" name="prompt" value="consent">
    <button name="answer" value="allow">Allow</button>
    <button name="answer" value="deny">Deny</button></form>`,
  );
}

const HTML = { 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-store' };

function show(response: ServerResponse, html: string): void {
  response.writeHead(200, HTML).end(html);
}

function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title>
  <meta name="viewport" content="width=device-width"><style>
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 26rem; margin: 12vh auto; padding: 0 1rem; color: #222 }
  label, button { display: block; margin: 1rem 0 } input { font: inherit; width: 100%; padding: .4rem; box-sizing: border-box }
  button { font: inherit; padding: .4rem 1.2rem; display: inline-block } em { color: #06c } [role=alert] { color: #b00 }
  </style><main><h1>${title}</h1>${body}</main></html>`;
}

function escapeHtml(value: string): string {
  return value.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
