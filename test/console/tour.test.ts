// Every screen is visited by its address: at a desk and on a phone, light and dark. It has no errors, loads
// little, and is fully usable for people who cannot see or point.
import assert from 'node:assert/strict';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { loaded } from '../base/client.ts';
import { startServer, type TestServer } from '../base/server.ts';
import { accessible } from './accessibility.ts';
import {
  browserTest,
  launch,
  LOADED_MAX,
  PHONE,
  quiet,
  settled,
  signedIn,
  visit,
  type Watched,
  watchedPage,
} from './browser.ts';

let server: TestServer;
let browser: Browser;
beforeAll(async () => {
  server = await startServer();
  const days = Array.from({ length: 60 }, (_, day) => {
    const date = new Date(Date.UTC(2024, 0, 2) + day * 86_400_000).toISOString().slice(0, 10);
    return `AAPL,${date},${100 + day},${103 + day},${98 + day},${101 + (day % 7)},${1000 * day}`;
  });
  const csv = ['symbol,date,open,high,low,close,volume', ...days].join('\n');
  await loaded(server, 'PRICES', csv);
  // Input of the market's screens.
  const core = await fetch(
    `${server.base}/v1/data/CORE/HISTORICAL_PRICES?wait=true&token=${server.secret}`,
    {
      method: 'POST',
      body: csv,
    },
  );
  assert.equal(core.status, 200, await core.text());
  await loaded(server, 'PRICES', 'symbol,date,close\nMSFT,2024-01-02,370\n');
});
afterAll(async () => {
  await browser?.close();
  await server.close();
});

const SCREENS: readonly (readonly [path: string, title: RegExp])[] = [
  ['/datasets', /^Datasets$/],
  ['/datasets/WS', /^Datasets$/],
  ['/datasets/WS/PRICES', /^PRICES$/],
  ['/datasets/WS/PRICES?tab=chart', /^PRICES$/],
  ['/datasets/WS/PRICES?tab=profile', /^PRICES$/],
  ['/datasets/WS/PRICES?tab=schema', /^PRICES$/],
  ['/datasets/WS/PRICES?tab=versions', /^PRICES$/],
  ['/datasets/WS/PRICES?tab=quality', /^PRICES$/],
  ['/sql/WS?q=SELECT%20*%20FROM%20PRICES', /^SQL$/],
  ['/load/WS', /^Load a file$/],
  ['/jobs/WS', /^Jobs and logs$/],
  ['/sources/WS', /^Sources and schedules$/],
  ['/market', /^Market$/],
  ['/market/AAPL', /^AAPL$/],
  ['/streams', /^Streams$/],
  ['/rules', /^Rules$/],
  ['/rules/new', /^Build a rule$/],
  ['/operations', /^Operations$/],
  ['/account', /^Account$/],
  ['/tokens', /^Tokens$/],
  ['/nowhere', /^No such screen$/],
];

/** The accessibility tree is checked at a desk only: on a phone it differs only in its menu. */
async function tour(watched: Watched, isTreeChecked: boolean): Promise<void> {
  const { page } = watched;
  for (const [path, title] of SCREENS) {
    await visit(watched, path);
    const heading = page.getByRole('heading', { level: 1, name: title });
    assert.equal(await heading.count(), 1, `${path} has its title`);
    await page.locator('main h1:focus').waitFor();
    assert.equal(await page.getByRole('alert').count(), 0, `${path} has no alert`);
    if (isTreeChecked) assert.deepEqual(await accessible(page), [], path);
    const wide = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    assert.ok(Number(wide) <= 0, `${path} is ${wide} pixels too wide`);
  }
}

browserTest('a tour of all screens at a desk', async () => {
  browser ??= await launch();
  const watched = await watchedPage(browser);
  await watched.page.goto(`${server.base}/console`);
  assert.deepEqual(await accessible(watched.page), [], 'signing in');
  await signedIn(watched, server.base, server.secret);
  await tour(watched, true);
  quiet(watched);
  assert.ok(
    watched.loaded() > 50_000 && watched.loaded() <= LOADED_MAX,
    `${watched.loaded()} bytes`,
  );
  await watched.context.close();
});

browserTest('a tour of all screens on a phone, in the dark, with a menu', async () => {
  browser ??= await launch();
  const watched = await watchedPage(browser, { size: PHONE, scheme: 'dark' });
  await signedIn(watched, server.base, server.secret);
  await tour(watched, false);
  const { page } = watched;
  await page.getByRole('button', { name: 'Menu' }).click();
  assert.deepEqual(await accessible(page), [], 'with its menu');
  await page
    .getByRole('navigation', { name: 'Screens' })
    .getByRole('link', { name: 'Jobs' })
    .click();
  await settled(page);
  assert.equal(await page.getByRole('heading', { level: 1 }).innerText(), 'Jobs and logs');
  quiet(watched);
  await watched.context.close();
});

/** Navigates by keys. The second must follow the first soon: on a loaded machine both are pressed again. */
async function goneBy(page: Page, letter: string, title: string): Promise<void> {
  const heading = page.getByRole('heading', { level: 1, name: title });
  for (let time = 0; time < 5 && !(await heading.isVisible()); time += 1) {
    await page.keyboard.press('g');
    await page.keyboard.press(letter);
    await heading.waitFor({ timeout: 5_000 }).catch(() => undefined);
  }
  await heading.waitFor();
}

browserTest('the console works by keys alone: skip, go, search, help', async () => {
  browser ??= await launch();
  const watched = await watchedPage(browser);
  await signedIn(watched, server.base, server.secret);
  const { page } = watched;
  await settled(page);
  await goneBy(page, 'a', 'Account');
  await goneBy(page, 'd', 'Datasets');
  // The search field appears with the list, after the heading.
  await settled(page);
  await page.keyboard.press('/');
  await page.keyboard.type('nothing has this');
  await page.getByText('No dataset matches').waitFor();
  assert.match(page.url(), /search=nothing/);
  await page.keyboard.press('Tab');
  await page.locator('body').click({ position: { x: 5, y: 700 } });
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keys' }).waitFor();
  assert.deepEqual(await accessible(page), []);
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.goBack();
  await page.getByRole('heading', { level: 1, name: 'Account' }).waitFor();
  quiet(watched);
  await watched.context.close();
});

browserTest('a token is only in memory, unless the user lets the tab remember it', async () => {
  browser ??= await launch();
  const watched = await watchedPage(browser);
  const { page } = watched;
  const stored = 'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])';
  await signedIn(watched, server.base, server.secret);
  await tourOf(watched, ['/datasets/WS/PRICES', '/sql/WS']);
  assert.doesNotMatch(page.url(), /sk_/);
  assert.doesNotMatch(String(await page.evaluate(stored)), /sk_/);
  assert.doesNotMatch(await page.content(), new RegExp(server.secret));
  await page.reload();
  await page.getByRole('heading', { name: 'Sign in to Tapedeck' }).waitFor();
  await page.getByLabel('Token').fill('sk_not_a_token');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('alert').waitFor();
  await page.getByLabel('Token').fill(server.secret);
  await page.getByLabel('Remember in this tab').check();
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  await page.reload();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in to Tapedeck' }).waitFor();
  assert.doesNotMatch(String(await page.evaluate(stored)), /sk_/);
  quiet(watched);
  await watched.context.close();
});

async function tourOf(watched: Watched, paths: readonly string[]): Promise<void> {
  for (const path of paths) await visit(watched, path);
}
