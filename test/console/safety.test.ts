// Hostile texts are shown as text everywhere; accounts see nothing of each other; a read-only token is
// offered no write actions.
import assert from 'node:assert/strict';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { loaded, send } from '../base/client.ts';
import { startServer, type TestServer } from '../base/server.ts';
import { createWorkspace } from '../../store/lake/datasetEdits.ts';
import {
  browserTest,
  launch,
  quiet,
  settled,
  signedIn,
  visit,
  type Watched,
  watchedPage,
} from './browser.ts';

const EVIL = `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`;

let server: TestServer;
let browser: Browser;
beforeAll(async () => {
  server = await startServer();
  const json = [{ symbol: EVIL, date: '2024-01-02', price: 1, 'a"><b>column': EVIL }];
  await loaded(server, 'EVIL', JSON.stringify(json), { key: 'symbol', date: 'date' });
  await request('PATCH', '/datasets/WS/EVIL', { title: EVIL, description: EVIL, source: EVIL });
  await request('POST', '/endpoints/WS/EVIL_Q', {
    endpoint: { query: 'SELECT * FROM EVIL', description: EVIL },
  });
  await request('POST', '/data-sources/WS', {
    name: EVIL,
    type: 'HTTP',
    url: 'https://example.com/a.csv',
  });
  await request('POST', '/account/tokens', { kind: 'publishable', name: EVIL });
  await request('POST', '/rules/create', {
    ruleName: EVIL,
    ruleSet: 'AAPL',
    conditions: [['latestPrice', '>', 1]],
    outputs: [
      {
        method: 'logs',
        frequency: 60,
      },
    ],
  });
});
afterAll(async () => {
  await browser?.close();
  await server.close();
});

async function request(method: string, path: string, json: object): Promise<void> {
  const answer = await send(server, method, path, json);
  assert.equal(answer.status, 200, `${path}: ${answer.text}`);
}

/** The text is shown unchanged, and none of it ran. */
async function isText({ page }: Watched, where: string): Promise<void> {
  assert.ok((await page.locator('main').innerText()).includes(EVIL), `${where} shows it`);
  assert.equal(await page.locator('img[src=x], script:not([src])').count(), 0, where);
  assert.doesNotMatch(await page.title(), /^owned/, where);
}

const PAGES = [
  '/datasets/WS',
  '/datasets/WS/EVIL',
  '/datasets/WS/EVIL?tab=profile',
  '/sql/WS',
  '/sources/WS',
  '/tokens',
  '/rules',
];

browserTest('names, values and errors that are markup are shown as texts', async () => {
  browser ??= await launch();
  const watched = await watchedPage(browser);
  const { page } = watched;
  await signedIn(watched, server.base, server.secret);
  for (const path of PAGES) {
    await visit(watched, path);
    await isText(watched, path);
  }
  // Errors repeat the query.
  const query = `SELECT '${EVIL.replaceAll("'", "''")}' AS a, no_such FROM EVIL`;
  await visit(watched, `/sql/WS?q=${encodeURIComponent(query)}`);
  await page.getByRole('alert').waitFor();
  await visit(watched, `/datasets/WS/${encodeURIComponent(EVIL)}`);
  await isText(watched, 'a name in an address');
  // A file's name, its columns and its errors.
  await visit(watched, '/load/WS');
  const buffer = Buffer.from(`symbol,date,${EVIL.replaceAll('"', '')}\nA,2024-01-02,x\n`);
  await page
    .getByLabel('File to load')
    .setInputFiles({ name: `${EVIL}.csv`, mimeType: 'text/csv', buffer });
  await page.getByRole('heading', { name: /^New dataset/ }).waitFor();
  await settled(page);
  assert.equal(await page.locator('img[src=x], script:not([src])').count(), 0);
  quiet(watched);
  await watched.context.close();
});

browserTest('an account sees nothing of another one', async () => {
  browser ??= await launch();
  const { accounts, lake } = server.tapedeck.services;
  const accountId = await accounts.createAccount('others', 'scale');
  const { text } = await accounts.createToken(accountId, 'secret');
  await createWorkspace(lake, 'OTHERS', accountId, 0);
  const watched = await watchedPage(browser);
  await signedIn(watched, server.base, text);
  const { page } = watched;
  await settled(page);
  await page.getByText('No datasets yet').waitFor();
  const spaces = page.getByRole('combobox', { name: 'Workspace' }).locator('option');
  assert.deepEqual(await spaces.allInnerTexts(), ['OTHERS']);
  for (const path of ['/datasets/WS', '/datasets/WS/EVIL', '/sql/WS', '/jobs/WS', '/sources/WS']) {
    await visit(watched, path);
    await page.getByRole('alert').first().waitFor();
    assert.doesNotMatch(await page.locator('main').innerText(), /onerror|example\.com/, path);
  }
  for (const path of ['/account', '/tokens', '/rules']) {
    await visit(watched, path);
    assert.doesNotMatch(await page.locator('main').innerText(), /onerror|EVIL/, path);
  }
  quiet(watched);
  await watched.context.close();
});

browserTest('a reader is refused with the message of the server', async () => {
  browser ??= await launch();
  const watched = await watchedPage(browser);
  await signedIn(watched, server.base, server.publishable);
  const { page } = watched;
  await settled(page);
  await page.getByRole('link', { name: 'EVIL', exact: true }).click();
  await page.getByRole('region', { name: 'Records of EVIL' }).waitFor();
  assert.equal(await page.getByRole('link', { name: 'Versions' }).count(), 0);
  await visit(watched, '/account');
  await page.getByText('The secret key is required to access this endpoint').first().waitFor();
  await page.getByText('Sign in with a secret token').first().waitFor();
  quiet(watched);
  await watched.context.close();
});

browserTest('screens that cannot be fetched show an error with a way to recover', async () => {
  browser ??= await launch();
  const watched = await watchedPage(browser);
  const { page } = watched;
  await page.route(/\/frame-\w+\.js$/, (route) => route.abort());
  await page.goto(`${server.base}/console`);
  await page.getByLabel('Token').fill(server.secret);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('Cannot load the screens.').waitFor();
  await page.unroute(/\/frame-\w+\.js$/);
  await page.getByRole('button', { name: 'Reload the page' }).click();
  await page.getByLabel('Token').waitFor();
  await signedIn(watched, server.base, server.secret);
  await watched.context.close();
});
