// The console of a real gateway with real servers, in a real browser without a network.
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { startBrowser } from '../support/person-at-browser.ts';
import { ModernClient } from '../support/raw-session.ts';
import { type StartedGateway, type StartOptions, startGateway } from '../support/start-gateway.ts';
import { faultyConfig } from '../support/stdio-rig.ts';

const NAMED_TOOLS = fileURLToPath(new URL('../support/named-tools-server.ts', import.meta.url));
export const MARKUP = '<img src=x onerror="document.title=1">';
const LONG = 'a-tool-with-a-name-that-does-not-end'.repeat(5);

const browser = await startBrowser();
after(() => browser.close());

interface Opened extends AsyncDisposable {
  readonly page: Page;
  /** Whatever went wrong in the page, and whatever it asked of others than its gateway. */
  readonly complaints: readonly string[];
}

/** @param setUp before the page is opened */
export async function openConsole(
  { adminUrl }: StartedGateway,
  options: BrowserContextOptions = {},
  setUp: (page: Page) => Promise<unknown> = async () => {},
): Promise<Opened> {
  // Whoever listens on every address is reached at this one.
  const url = adminUrl.replace('//0.0.0.0', '//127.0.0.1');
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('dialog', (dialog) => complaints.push(`dialog: ${dialog.message()}`));
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== url) complaints.push(`asked ${request.url()}`);
  });
  await page.addInitScript(() => {
    addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
      // biome-ignore lint/suspicious/noConsole: it is the page's, and how the test hears of it
      console.error(`violates ${violatedDirective}: ${blockedURI}`),
    );
  });
  await setUp(page);
  await page.goto(url);
  return { page, complaints, [Symbol.asyncDispose]: () => context.close() };
}

function named(slug: string, ...names: string[]) {
  return faultyConfig([], { slug, name: slug, args: [NAMED_TOOLS, ...names], isolation: 'shared' });
}

/** One that works, one that is broken with markup in its error, one whose tools have markup for names. */
export async function startBusyGateway(options: StartOptions = {}): Promise<StartedGateway> {
  const gateway = await startGateway({
    servers: [
      named('tickets', 'find', 'fails'),
      faultyConfig([], { slug: 'broken', name: 'broken', command: `/absent/${MARKUP}` }),
      named('hostile', MARKUP, LONG),
    ],
    ...options,
  });
  const calls = [
    ['tickets', 'find'],
    ['tickets', 'fails'],
    ['broken', 'anything'],
    ['hostile', MARKUP],
    ['hostile', LONG],
  ] as const;
  for (const [server, name] of calls) {
    await using client = new ModernClient(`${gateway.url}/${server}`);
    await client.ask('tools/call', { name, arguments: {} });
  }
  return gateway;
}

export function card(page: Page, slug: string) {
  return page.getByRole('article', { name: new RegExp(`^${slug},`) });
}

/** As they are read, in one line. */
export async function wordsOf(locator: Locator): Promise<string> {
  return (await locator.allInnerTexts()).join(' ').replaceAll(/\s+/g, ' ');
}
