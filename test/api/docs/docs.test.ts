// The documentation that a server without a network serves.
import assert from 'node:assert/strict';
import { afterAll, beforeAll, test } from 'vitest';
import { startServer, type TestServer } from '../../base/server.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startServer();
});

afterAll(() => server.close());

const get = (path: string, init?: RequestInit): Promise<Response> =>
  fetch(`${server.base}${path}`, init);

test('every page exists, and every link of a page has a target', async () => {
  const home = await (await get('/docs')).text();
  const paths = [...home.matchAll(/href="(\/docs\/[^"#]+)"/g)].map(([, path = '']) => path);
  assert.ok(paths.length > 20, `${paths.length} pages`);
  const pages = new Map<string, string>();
  for (const path of new Set(paths)) {
    const answer = await get(path);
    assert.equal(answer.status, 200, path);
    pages.set(path, await answer.text());
  }
  const broken: string[] = [];
  for (const [page, text] of pages) {
    for (const [, href = ''] of text.matchAll(/(?:href|src)="(\/docs[^"]*)"/g)) {
      const [path = '', anchor] = href.split('#');
      const target = pages.get(path) ?? (await (await get(path)).text());
      if (target === 'Not Found') broken.push(`${page}: ${href}`);
      if (anchor !== undefined && !target.includes(`id="${anchor}"`))
        broken.push(`${page}: ${href}`);
    }
  }
  assert.deepEqual(broken, []);
});

test('a page runs no script of its text and loads nothing from other hosts', async () => {
  const answer = await get('/docs');
  assert.match(answer.headers.get('content-security-policy') ?? '', /^default-src 'none'/);
  assert.doesNotMatch(await answer.text(), /(src|href)="https?:\/\/[^"]*\.(js|css)"/);
});

test('a page that the client has is not sent again', async () => {
  const tag = (await get('/docs')).headers.get('etag') ?? '';
  const again = await get('/docs', { headers: { 'if-none-match': tag } });
  assert.equal(again.status, 304);
});

test('no file beside the documentation is served', async () => {
  const hostile = ['/docs/%00.png', '/docs/%2e%2e/docs2/a.png', '/docs/guides/pictures'];
  const paths = ['/docs/../package.json', '/docs/%2e%2e/package.json', '/docs/nothing.png'];
  for (const path of [...paths, ...hostile]) {
    assert.equal((await get(path)).status, 404, path);
  }
});

test('an image is served, and a page in the accepted encoding', async () => {
  const picture = await get('/docs/guides/pictures/chart.png');
  assert.equal(picture.headers.get('content-type'), 'image/png');
  assert.ok((await picture.arrayBuffer()).byteLength > 1_000);
  const page = await get('/docs', { headers: { 'accept-encoding': 'br' } });
  assert.equal(page.headers.get('content-encoding'), 'br');
  assert.match(await page.text(), /^<!doctype html>/);
});
