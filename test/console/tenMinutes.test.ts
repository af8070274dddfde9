// A person's first ten minutes: a file becomes a dataset, a chart, a query, an endpoint; then a token, bill,
// a failing schedule with its reason, a stream, a rule and its backtest. Elements are found by role and name.
import assert from 'node:assert/strict';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { send } from '../base/client.ts';
import { startServer, type TestServer } from '../base/server.ts';
import { startHttp } from '../base/servers/http.ts';
import {
  browserTest,
  launch,
  LOADED_MAX,
  quiet,
  settled,
  signedIn,
  type Watched,
  watchedPage,
} from './browser.ts';

let server: TestServer;
let browser: Browser;
beforeAll(async () => {
  server = await startServer({ settings: { TAPEDECK_ALLOW_PRIVATE_ADDRESSES: 'on' } });
  const url = `${server.base}/v1/data/CORE/HISTORICAL_PRICES?wait=true&token=${server.secret}`;
  const answer = await fetch(url, { method: 'POST', body: pricesOf('AAPL') });
  assert.equal(answer.status, 200, await answer.text());
});
afterAll(async () => {
  await browser?.close();
  await server.close();
});

/** Forty rising days, except that every tenth falls by a tenth. */
function pricesOf(symbol: string): string {
  const days = Array.from({ length: 40 }, (_, day) => {
    const date = new Date(Date.UTC(2024, 0, 2) + day * 86_400_000).toISOString().slice(0, 10);
    const close = day % 10 === 9 ? 90 + day : 100 + day;
    return `${symbol},${date},${close - 1},${close + 2},${close - 2},${close}.5,${1000 + day}`;
  });
  return ['symbol,date,open,high,low,close,volume', ...days].join('\n');
}

const click = (page: Page, name: string | RegExp): Promise<void> =>
  page.getByRole('button', { name, exact: true }).first().click();

async function place({ page }: Watched, name: string): Promise<void> {
  await page
    .getByRole('navigation', { name: 'Screens' })
    .getByRole('link', { name, exact: true })
    .click();
  await page.locator('main h1:focus').waitFor();
  await settled(page);
}

async function loadFile(watched: Watched): Promise<void> {
  const { page } = watched;
  await place(watched, 'Load');
  const buffer = Buffer.from(pricesOf('MSFT'));
  await page
    .getByLabel('File to load')
    .setInputFiles({ name: 'my prices.csv', mimeType: 'text/csv', buffer });
  await page.getByRole('heading', { name: 'New dataset MY_PRICES' }).waitFor();
  const types = page.getByRole('region', { name: 'Columns and types' }).first();
  assert.match(await types.innerText(), /close\s+number/);
  await click(page, 'Load the file');
  await page.getByText('INGESTED').waitFor();
}

async function seeChart({ page }: Watched): Promise<void> {
  await page.getByRole('link', { name: 'Chart', exact: true }).click();
  const chart = page.getByRole('img', { name: /MY_PRICES MSFT: 40 points/ });
  await chart.waitFor();
  await chart.locator('canvas').waitFor();
  assert.match((await chart.getAttribute('aria-label')) ?? '', /2024-01-02 to 2024-02-10/);
}

/**
 * Replaces the text of a field by keys, as a person does: a script that fills a field requests an action of
 * the browser that no key triggers.
 */
async function typeOver(page: Page, editor: Locator, text: string): Promise<void> {
  await editor.click();
  await page.keyboard.press('Control+A');
  await page.keyboard.insertText(text);
}

async function query(watched: Watched): Promise<void> {
  const { page } = watched;
  await place(watched, 'SQL');
  const editor = page.getByRole('textbox', { name: 'SQL query' });
  await page.locator('.cm-content').waitFor();
  await typeOver(page, editor, 'SELECT nonsense FROM MY_PRICES');
  await page.getByRole('alert').getByText('line 1, column 8').waitFor();
  assert.equal(await page.locator('.cm-lintRange-error').innerText(), 'nonsense');
  await typeOver(
    page,
    editor,
    'SELECT symbol, max(close) AS top FROM MY_PRICES WHERE symbol = :symbol GROUP BY 1',
  );
  await click(page, 'Save …');
  const dialog = page.getByRole('dialog', { name: 'Save the query' });
  await dialog.getByLabel('Name').fill('TOPS_OF');
  await dialog.getByLabel('Type of parameter symbol').waitFor();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('rowheader', { name: 'TOPS_OF' }).waitFor();
  await typeOver(page, editor, 'SELECT symbol, close FROM MY_PRICES');
  await page.getByText(/^Costs at most/).waitFor();
  await click(page, 'Run');
  await page.getByRole('heading', { name: /^Result: 40 rows/ }).waitFor();
  const answer = await send(server, 'GET', '/endpoints/WS/TOPS_OF?symbol=MSFT');
  assert.equal(answer.status, 200, answer.text);
  assert.match(answer.text, /"top":138.5/);
}

async function makeToken(watched: Watched): Promise<void> {
  const { page } = watched;
  await place(watched, 'Tokens');
  await click(page, 'Create a token');
  const dialog = page.getByRole('dialog', { name: 'Create a token' });
  await dialog.getByLabel('Name').fill('for a chart');
  await dialog.getByLabel('Datasets').fill('WS.MY_PRICES');
  await dialog.getByRole('button', { name: 'Create' }).click();
  const tokenDialog = page.getByRole('dialog', { name: 'New token' });
  const text = await tokenDialog.locator('code').innerText();
  const read = await fetch(`${server.base}/v1/data/WS/MY_PRICES/MSFT?last=1&token=${text}`);
  assert.equal(read.status, 200);
  await tokenDialog.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('rowheader', { name: 'for a chart' }).waitFor();
}

async function seeBill(watched: Watched): Promise<void> {
  const { page } = watched;
  await place(watched, 'Account');
  const calls = page.getByRole('region', { name: 'Charged calls', exact: true });
  await calls.getByRole('rowheader', { name: 'WS.MY_PRICES' }).first().waitFor();
  const used = await send(server, 'GET', '/account/metadata');
  const { messagesUsed } = JSON.parse(used.text) as { readonly messagesUsed: number };
  const usedText = await page
    .locator('dt', { hasText: 'Messages used' })
    .locator('+ dd')
    .innerText();
  assert.equal(Number(usedText.replaceAll(',', '')), messagesUsed);
}

async function schedule(watched: Watched, port: number): Promise<void> {
  const { page } = watched;
  await place(watched, 'Sources');
  await click(page, 'Add a source');
  const source = page.getByRole('dialog', { name: 'Add a source' });
  await source.getByLabel('Name').fill('a page');
  await source.getByRole('textbox', { name: 'URL' }).fill(`http://127.0.0.1:${port}/prices.csv`);
  await source.getByRole('button', { name: 'Add' }).click();
  await page.getByRole('rowheader', { name: 'a page' }).waitFor();
  await click(page, 'Create a schedule');
  const scheduleDialog = page.getByRole('dialog', { name: 'Create a schedule' });
  await scheduleDialog.getByLabel('Dataset').fill('DAILY');
  await scheduleDialog.getByLabel('Attempts of a run').selectOption('1');
  await scheduleDialog.getByRole('button', { name: 'Create' }).click();
  const runs = page.getByRole('region', { name: 'Runs', exact: true });
  await runs.getByText('ERROR').waitFor();
  assert.match(await runs.innerText(), /the source answered a web page/);
  await runs.getByRole('link').click();
  await page.getByRole('alert').getByText('The job failed').waitFor();
}

async function stream(watched: Watched): Promise<void> {
  const { page } = watched;
  await place(watched, 'Streams');
  await page
    .getByRole('combobox', { name: 'Stream' })
    .selectOption({ label: 'Records of a dataset' });
  await page.getByRole('textbox', { name: 'Dataset' }).fill('WS.MY_PRICES');
  await click(page, 'Connect');
  await page.getByText('open', { exact: true }).waitFor();
  const record = [
    { symbol: 'LIVE', date: '2024-03-01', open: 1, high: 1, low: 1, close: 7.25, volume: 1 },
  ];
  const pushed = await send(server, 'POST', '/record/WS/MY_PRICES', record);
  assert.equal(pushed.status, 200, pushed.text);
  await page
    .getByRole('list', { name: /Messages/ })
    .getByText('LIVE')
    .waitFor();
  await click(page, 'Disconnect');
}

async function rule(watched: Watched): Promise<void> {
  const { page } = watched;
  await place(watched, 'Rules');
  await page.getByRole('link', { name: 'Build a rule' }).click();
  await page.getByRole('textbox', { name: 'Symbol' }).fill('AAPL');
  await page.getByRole('textbox', { name: 'Name' }).fill('a fall');
  await page.getByLabel('Comparison of condition 1').selectOption({ label: 'is below' });
  await page.getByLabel('Compared with, of condition 1').fill('-0.05');
  await page.getByLabel('From', { exact: true }).fill('2024-01-02');
  await page.getByLabel('To', { exact: true }).fill('2024-02-10');
  await click(page, 'Run the backtest');
  await page.getByRole('heading', { name: 'It would have fired 4 times' }).waitFor();
  await page
    .getByRole('img', { name: /Days of AAPL with 4 firings: 40 points/ })
    .locator('canvas')
    .waitFor();
  await click(page, 'Create the rule');
  await page.getByRole('heading', { level: 1, name: 'a fall' }).waitFor();
  await page.getByRole('heading', { name: 'Current state' }).waitFor();
}

browserTest('a person’s first ten minutes', async () => {
  await using page = await startHttp((_request, response) => {
    response.setHeader('content-type', 'text/html');
    response.end('<!doctype html><title>Please log in</title>');
  });
  browser = await launch();
  const watched = await watchedPage(browser);
  await signedIn(watched, server.base, server.secret);
  await loadFile(watched);
  await seeChart(watched);
  await query(watched);
  await makeToken(watched);
  await seeBill(watched);
  await schedule(watched, page.port);
  await stream(watched);
  await rule(watched);
  quiet(watched);
  assert.ok(watched.loaded() <= LOADED_MAX, `${watched.loaded()} bytes`);
  await watched.context.close();
});
