// A person who signs in with a real browser, and the page of the client that the browser comes back to.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Browser, chromium, type Page } from 'playwright-core';

export interface Credentials {
  readonly name: string;
  readonly password: string;
}

export interface PersonAtBrowser extends AsyncDisposable {
  /** Where a client waits for the browser. */
  readonly redirectUrl: string;
  readonly page: Page;
  /** Opens the address that a client asks for; ends at whatever the authorization server shows first. */
  open(authorizationUrl: URL): Promise<void>;
  signIn(credentials: Credentials): Promise<void>;
  /** What the page asks to be allowed, as it is read. */
  asked(): Promise<string>;
  /** Presses the button, and comes back with what the client is told. */
  answer(button: 'Allow' | 'Deny'): Promise<URLSearchParams>;
}

const CALLBACK = '/callback';

/** @throws Error where there is no Chromium */
export function startBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      // It has nothing to look up but what a test opens.
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

export async function sitDown(browser: Browser): Promise<PersonAtBrowser> {
  const client = createServer((request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/html' }).end('<h1>You can close this window</h1>');
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://client');
    if (pathname === CALLBACK) client.emit('came back', searchParams);
  });
  client.listen(0, '127.0.0.1');
  await once(client, 'listening');
  const { port } = client.address() as AddressInfo;
  // Cookies of its own, as another person's browser has.
  const context = await browser.newContext();
  const page = await context.newPage();
  return {
    redirectUrl: `http://127.0.0.1:${port}${CALLBACK}`,
    page,
    async open(authorizationUrl) {
      await page.goto(authorizationUrl.href);
    },
    async signIn({ name, password }) {
      await page.getByLabel('Name').fill(name);
      await page.getByLabel('Password').fill(password);
      const loaded = page.waitForEvent('load');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await loaded;
    },
    asked: async () => (await page.getByRole('main').textContent()) ?? '',
    async answer(button) {
      const cameBack = once(client, 'came back') as Promise<[URLSearchParams]>;
      await page.getByRole('button', { name: button }).click();
      const [query] = await cameBack;
      return query;
    },
    async [Symbol.asyncDispose]() {
      await context.close();
      client.close();
      client.closeAllConnections();
    },
  };
}
