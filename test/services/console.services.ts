// What the console shows operators, and how it looks.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { LiveReplica } from '../../src/replicas/replicas.ts';
import { card, MARKUP, openConsole, startBusyGateway, wordsOf } from './console-rig.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

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
  assert.ok(packed.has('dist/licenses.txt'), 'the licenses of what dist/ has of others');
  const [{ version }, said] = await Promise.all([
    readFile(`${ROOT}/package.json`, 'utf8').then((text) => JSON.parse(text)),
    run(process.execPath, ['dist/main.js', '--version'], { cwd: ROOT }),
  ]);
  assert.equal(said.stdout.trim(), version);
});
