// A link to a live chart, in a page of another site and opened directly: it is shown without complaints.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll } from 'vitest';
import type { Browser } from 'playwright-core';
import { loaded } from '../base/client.ts';
import { startServer, type TestServer } from '../base/server.ts';
import { browserTest, launch, watchedPage } from './browser.ts';

let server: TestServer;
let browser: Browser;
beforeAll(async () => {
  server = await startServer();
  const bars = ['1,4,0,1', '1,3,1,3', '3,3,1,2'].map((bar, at) => `A,2024-01-0${at + 1},${bar}`);
  const csv = `symbol,date,open,high,low,close\n${bars.join('\n')}\n`;
  await loaded(server, 'P', csv, { key: 'symbol', date: 'date' });
  browser = await launch();
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
});

browserTest('a chart is shown in a page of another site, with a publishable token', async () => {
  const title = encodeURIComponent(`</text><script>document.title='owned'</script>`);
  const of = (format: string): string =>
    `${server.base}/v1/time-series/WS.P/A?last=3&format=${format}&chartTitle=${title}` +
    `&token=${server.publishable}`;
  const links = ['svg', 'png'].map((format) => of(format).replaceAll('&', '&amp;'));
  const html = `<!doctype html><title>other</title>${links.map((src) => `<img src="${src}">`).join('')}`;
  const other = createServer((_request, response) => {
    const headers = { 'content-type': 'text/html', 'cross-origin-embedder-policy': 'require-corp' };
    response.writeHead(200, headers).end(html);
  }).listen(0, '127.0.0.1');
  const watched = await watchedPage(browser);
  const { complaints, context, page } = watched;
  try {
    const site = `http://localhost:${(other.address() as AddressInfo).port}/`;
    await page.goto(site);
    const sizes = (): Promise<readonly number[]> =>
      page.$$eval('img', (images) =>
        images.flatMap((one) => [one.naturalWidth, one.naturalHeight]),
      );
    assert.deepEqual(await sizes(), [960, 420, 960, 420]);
    for (const format of ['svg', 'png']) {
      await page.goto(of(format));
      assert.notEqual(await page.title(), 'owned');
    }
    await page.goto(of('svg'));
    const styled = (name: string): Promise<unknown> =>
      page.evaluate(`getComputedStyle(document.querySelector('path')).${name}`);
    assert.equal(await styled('fill'), 'none', 'its own style is allowed');
    assert.equal(await styled('stroke'), 'rgb(31, 111, 235)');
    await page.goto(`${of('svg')}&chartKind=candles&chartColumn=high,low`);
    assert.equal(await page.$$eval('path', (paths) => paths.length), 8, 'two lines rendered twice');
    await page.goto(site);
    const specification = of('vega-lite');
    const mark = await page.evaluate(`fetch(${JSON.stringify(specification)})
      .then((answer) => answer.json()).then(({ mark }) => mark.type)`);
    assert.equal(mark, 'line', 'a page of another site may fetch a specification');
    assert.deepEqual(
      complaints.filter((one) => !/favicon/.test(one)),
      [],
    );
  } finally {
    await context.close();
    other.close();
  }
});
