// The console in use: by keyboard, behind its token, while the gateway is away, and from one refresh to the next.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { card, openConsole, startBusyGateway } from './console-rig.ts';

const TOKEN = 'the-token-of-the-operator';

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
