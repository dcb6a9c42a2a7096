// The console as operators meet it: a real gateway with real servers, and a real browser without a network.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import type { LiveReplica } from '../../src/replicas/replicas.ts';
import { startBrowser } from '../support/person-at-browser.ts';
import { ModernClient } from '../support/raw-session.ts';
import { type StartedGateway, type StartOptions, startGateway } from '../support/start-gateway.ts';
import { faultyConfig } from '../support/stdio-rig.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const NAMED_TOOLS = fileURLToPath(new URL('../support/named-tools-server.ts', import.meta.url));
const TOKEN = 'the-token-of-the-operator';
const MARKUP = '<img src=x onerror="document.title=1">';
const LONG = 'a-tool-with-a-name-that-does-not-end'.repeat(5);

const browser = await startBrowser();
after(() => browser.close());

interface Opened extends AsyncDisposable {
  readonly page: Page;
  /** Whatever went wrong in the page, and whatever it asked of others than its gateway. */
  readonly complaints: readonly string[];
}

/** @param setUp before the page is opened */
async function openConsole(
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
async function startBusyGateway(options: StartOptions = {}): Promise<StartedGateway> {
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

function card(page: Page, slug: string) {
  return page.getByRole('article', { name: new RegExp(`^${slug},`) });
}

/** As they are read, in one line. */
async function wordsOf(locator: Locator): Promise<string> {
  return (await locator.allInnerTexts()).join(' ').replaceAll(/\s+/g, ' ');
}

test('servers, exchanges, tools and replicas are shown, without a violation, an error or a foreign request', async () => {
  await using gateway = await startBusyGateway();
  await using opened = await openConsole(gateway);
  const { page, complaints } = opened;
  const tickets = card(page, 'tickets');
  await tickets.getByText('2, 1 failed').waitFor();
  assert.match(await wordsOf(tickets), /up.*stdio, legacy 2025-11-25.*Links 1 idle/);
  assert.match(
    (await tickets.getByRole('img').first().locator('title').textContent()) ?? '',
    /^Calls in the last 15 minutes: 2 calls, 1 failed/,
  );
  assert.match(await wordsOf(card(page, 'broken')), /down.*\d s ago: command-missing/);
  await page.getByText('1 server down: broken.').waitFor();
  const exchanges = page.getByRole('region', { name: 'Recent exchanges' });
  await exchanges.getByText('5 exchanges').waitFor();
  assert.match(await wordsOf(exchanges), /server-unavailable/);
  await page.getByText('One replica: this one.').waitFor();
  assert.deepEqual(complaints, []);
});

test('a hostile tool name and a hostile error stay text, on a narrow screen too', async () => {
  await using gateway = await startBusyGateway();
  for (const width of [380, 1280]) {
    await using opened = await openConsole(gateway, { viewport: { width, height: 800 } });
    const { page, complaints } = opened;
    await card(page, 'broken').getByText(MARKUP).waitFor();
    await page.getByRole('region', { name: 'Recent exchanges' }).getByText(MARKUP).waitFor();
    await page.getByRole('region', { name: 'Tools' }).locator('summary', { hasText: 'hostile' }).click();
    await page.getByRole('region', { name: 'Tools' }).getByText(MARKUP).waitFor();
    assert.equal(await page.locator('main img').count(), 0);
    assert.equal(await page.title(), 'Portico');
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(overflow <= 0, `${overflow} pixels too wide at ${width}`);
    assert.deepEqual(complaints, []);
  }
});

test('everything can be reached and used with the keyboard alone, and the focus is always seen', async () => {
  await using gateway = await startBusyGateway();
  await using opened = await openConsole(gateway);
  const { page } = opened;
  await card(page, 'tickets').waitFor();
  await page.getByRole('row', { name: 'find' }).first().waitFor();
  const focused = () =>
    page.evaluate(() => {
      const { activeElement: element } = document;
      if (element === null || element === document.body) return undefined;
      const { outlineStyle, outlineWidth } = getComputedStyle(element);
      const box = element.getBoundingClientRect();
      return {
        words: `${element.id} ${element.textContent?.trim()}`.trim(),
        isSeen: outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2 && box.width > 0 && box.top >= 0,
      };
    });
  // The page refreshes meanwhile: the focus must stay where it is.
  const walked: string[] = [];
  for (let steps = 0; steps < 100; steps += 1) {
    await page.keyboard.press('Tab');
    const at = await focused();
    if (at === undefined) break;
    assert.ok(at.isSeen, at.words);
    walked.push(at.words);
  }
  assert.ok(walked.length < 100, 'the walk never ends');
  assert.equal(walked[0], 'Skip to content');
  for (const words of [
    'Servers',
    'pause',
    'server-order',
    'Details',
    'exchange-filter',
    'Time',
    'tool-filter',
  ]) {
    assert.ok(
      walked.some((step) => step === words || step.startsWith(words)),
      words,
    );
  }

  await page.getByLabel('Filter').first().focus();
  await page.keyboard.type('fails');
  await page.getByText('1 exchange', { exact: true }).waitFor();
  const unfold = page.locator('.unfold').first();
  await unfold.focus();
  await page.keyboard.press('Enter');
  assert.equal(await unfold.getAttribute('aria-expanded'), 'true');
  await page.getByText('HTTP status').waitFor();
  await page.getByRole('button', { name: 'Took' }).focus();
  await page.keyboard.press('Enter');
  assert.equal(await page.getByRole('columnheader', { name: 'Took' }).getAttribute('aria-sort'), 'ascending');
  await page.getByLabel('Sort by').focus();
  await page.keyboard.type('name');
  assert.deepEqual(await page.locator('.server h3').allInnerTexts(), ['broken', 'hostile', 'tickets']);
});

test('dark and light are two pages, and in both all text has a contrast of 4.5 to 1 at least', async () => {
  await using gateway = await startBusyGateway();
  const papers = new Set<string>();
  for (const colorScheme of ['dark', 'light'] as const) {
    await using opened = await openConsole(gateway, { colorScheme, reducedMotion: 'reduce' });
    const { page } = opened;
    await card(page, 'broken').waitFor();
    await page.getByRole('region', { name: 'Recent exchanges' }).getByText('error').first().waitFor();
    papers.add(await page.evaluate(() => getComputedStyle(document.body).backgroundColor));
    assert.equal(
      await page.evaluate(() => getComputedStyle(document.documentElement).scrollBehavior),
      'auto',
    );
    const faint = await page.evaluate(() => {
      const colorOf = (text: string) => (text.match(/[\d.]+/g) ?? []).map(Number);
      const luminance = (color: number[]) => {
        const [red = 0, green = 0, blue = 0] = color.map((value) => {
          const share = value / 255;
          return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
      };
      const groundOf = (element: Element | null): number[] => {
        if (element === null) return [255, 255, 255];
        const color = colorOf(getComputedStyle(element).backgroundColor);
        return color[3] === 0 ? groundOf(element.parentElement) : color.slice(0, 3);
      };
      return [...document.querySelectorAll('body *')]
        .filter(
          (element) => element.checkVisibility() && element.children.length === 0 && element.textContent,
        )
        .filter((element) => !(element instanceof SVGElement) && element.tagName !== 'OPTION')
        .map((element) => {
          const ink = luminance(colorOf(getComputedStyle(element).color));
          const ground = luminance(groundOf(element));
          const contrast = (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05);
          return { text: element.textContent, contrast };
        })
        .filter(({ contrast }) => contrast < 4.5);
    });
    assert.deepEqual(faint, [], colorScheme);
  }
  assert.equal(papers.size, 2);
});

test('off loopback nothing is shown without the token, a wrong one is told so, the right one shows all until it is forgotten', async () => {
  await using gateway = await startBusyGateway({
    gateway: { admin: { host: '0.0.0.0', port: 0, hosts: [], token: TOKEN } },
    secrets: [TOKEN],
  });
  const seen: (string | undefined)[] = [];
  await using opened = await openConsole(gateway, {}, async (page) => {
    page.on('request', (request) => {
      assert.ok(!request.url().includes(TOKEN));
      if (new URL(request.url()).pathname === '/status') seen.push(request.headers().authorization);
    });
  });
  const { page } = opened;
  const field = page.getByLabel('Admin token');
  await field.waitFor();
  assert.equal(await field.evaluate((element) => document.activeElement === element), true);
  assert.equal(await page.locator('.server').count(), 0);
  for (const wrong of ['a-guess', 'two words', 'not-ascii-\u00e9']) {
    await page.keyboard.type(wrong);
    await page.keyboard.press('Enter');
    await page.getByText('This is not the token').waitFor();
  }
  assert.equal(await page.locator('.server').count(), 0);
  await page.keyboard.type(TOKEN);
  await page.keyboard.press('Enter');
  await card(page, 'tickets').waitFor();
  assert.deepEqual([...new Set(seen)], [undefined, 'Bearer a-guess', `Bearer ${TOKEN}`]);
  assert.deepEqual(await page.evaluate(() => [document.cookie, localStorage.length]), ['', 0]);

  await page.reload();
  await card(page, 'tickets').waitFor();
  // The token is another one by now: what was seen with the old one goes.
  await page.route('**/status', (route) => route.fulfill({ status: 401 }));
  await field.waitFor({ timeout: 20_000 });
  assert.equal(await page.locator('.server').count(), 0);
  await page.unroute('**/status');
  await page.keyboard.type(TOKEN);
  await page.keyboard.press('Enter');
  await card(page, 'tickets').waitFor();
  await page.getByRole('button', { name: 'Forget token' }).click();
  await field.waitFor();
  assert.equal(await page.locator('.server').count(), 0);
  assert.equal(await page.evaluate(() => sessionStorage.length), 0);
});

test('a gateway that cannot be reached is said so, with what is still shown; the page goes on by itself', async () => {
  await using gateway = await startBusyGateway();
  await using opened = await openConsole(gateway);
  const { page } = opened;
  await card(page, 'tickets').waitFor();
  await page.route('**/status*', (route) => route.abort('connectionrefused'));
  await page.getByText('The gateway cannot be reached. What you see is from').waitFor({ timeout: 20_000 });
  assert.equal(await card(page, 'tickets').isVisible(), true);
  await page.unroute('**/status*');
  await page.getByText('The gateway cannot be reached.').waitFor({ state: 'hidden', timeout: 20_000 });
});

test('what is unfolded, focused and typed outlives a refresh; a page that is paused asks nothing', async () => {
  await using gateway = await startBusyGateway();
  await using opened = await openConsole(gateway);
  const { page } = opened;
  const details = card(page, 'tickets').locator('summary');
  await details.focus();
  await page.keyboard.press('Enter');
  await card(page, 'tickets').getByRole('table').waitFor();
  const asked = () =>
    page.waitForResponse((response) => response.url().endsWith('/status'), { timeout: 20_000 });
  await asked();
  await asked();
  assert.equal(await details.evaluate((element) => document.activeElement === element), true);
  assert.equal(await card(page, 'tickets').getByRole('table').isVisible(), true);

  await page.getByRole('button', { name: 'Pause' }).click();
  let requests = 0;
  page.on('request', () => {
    requests += 1;
  });
  // Longer than two refreshes: that nothing happens cannot be awaited.
  await page.waitForTimeout(11_000);
  assert.equal(requests, 0);
  const next = asked();
  await page.getByRole('button', { name: 'Resume' }).click();
  await next;
});

test('replicas are listed where the status knows of several', async () => {
  await using gateway = await startBusyGateway();
  await using opened = await openConsole(gateway, {}, (page) =>
    page.route('**/status', async (route) => {
      const response = await route.fetch();
      const since = Date.parse('2026-01-02T03:04:05Z');
      const replicas: LiveReplica[] = [
        { id: 'one', url: 'http://10.0.0.5:9091', since, self: true },
        { id: 'two', url: 'http://10.0.0.6:9091', since, self: false },
      ];
      await route.fulfill({ response, json: { ...(await response.json()), replicas } });
    }),
  );
  const replicas = opened.page.getByRole('region', { name: 'Replicas' });
  await replicas.getByText('http://10.0.0.5:9091').waitFor();
  assert.deepEqual(
    (await replicas.getByRole('row').allInnerTexts()).map((row) => row.split(/\s/)[0]),
    ['Replica', 'one', 'two'],
  );
});

test('the package has every file of the console', async () => {
  const run = promisify(execFile);
  await run('npm', ['run', 'build'], { cwd: ROOT });
  const { stdout } = await run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: ROOT });
  const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }];
  const packed = new Set(files.map(({ path }) => path));
  const missing = (await readdir(`${ROOT}/src/console`)).filter(
    (name) => !packed.has(`dist/console/${name}`),
  );
  assert.deepEqual(missing, []);
});
