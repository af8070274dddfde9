// The pages of the console without a browser: their headers, sizes and caching.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, test } from 'vitest';
import { startServer, type TestServer } from '../base/server.ts';
import { FIRST_MAX } from './browser.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

const ASSET = /\/console\/assets\/[\w-]+\.(?:js|css)/g;

test('every address below /console serves the same page, under a strict policy', async () => {
  const pages = await Promise.all(
    ['/console', '/console/', '/console/datasets/WS/A%20B', '/console/no/such/screen'].map((path) =>
      fetch(`${server.base}${path}`),
    ),
  );
  const texts = await Promise.all(pages.map((page) => page.text()));
  assert.deepEqual(
    pages.map(({ status }) => status),
    [200, 200, 200, 200],
  );
  assert.equal(new Set(texts).size, 1);
  const { headers } = pages[2] as Response;
  const policy = headers.get('content-security-policy') ?? '';
  for (const part of [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
  ]) {
    assert.ok(policy.split('; ').includes(part), `${part} in ${policy}`);
  }
  assert.doesNotMatch(policy, /unsafe|https?:|\*/);
  assert.equal(headers.get('x-frame-options'), 'DENY');
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
  assert.equal(headers.get('referrer-policy'), 'no-referrer');
  assert.equal(headers.get('cache-control'), 'no-cache');
  assert.equal(headers.get('access-control-allow-origin'), null);
  assert.doesNotMatch(
    texts[0] ?? '',
    /<script(?![^>]* src=)|<style|\son\w+=|https?:\/\/(?!www\.w3\.org)/,
  );
});

test('the page is revalidated, and answered without a body while it is unchanged', async () => {
  const first = await fetch(`${server.base}/console`);
  const tag = first.headers.get('etag') ?? '';
  assert.match(tag, /^"[0-9a-f]{32}"$/);
  const again = await fetch(`${server.base}/console`, { headers: { 'if-none-match': tag } });
  assert.equal(again.status, 304);
  assert.equal(await again.text(), '');
});

test('files are named by their content, compressed, and cached for ever', async () => {
  const page = await (await fetch(`${server.base}/console`)).text();
  const paths = [...new Set(page.match(ASSET))];
  assert.ok(paths.length >= 2, page);
  const sizes = await Promise.all(
    paths.map(async (path) => {
      const answers = await Promise.all(
        ['br', 'gzip', 'identity'].map((encoding) =>
          fetch(`${server.base}${path}`, { headers: { 'accept-encoding': encoding } }),
        ),
      );
      const texts = await Promise.all(answers.map((answer) => answer.text()));
      assert.equal(new Set(texts).size, 1, 'each encoding is of the same text');
      assert.equal(answers[0]?.headers.get('content-encoding'), 'br');
      assert.equal(answers[1]?.headers.get('content-encoding'), 'gzip');
      assert.equal(answers[0]?.headers.get('cache-control'), 'public, max-age=31536000, immutable');
      return Number(answers[0]?.headers.get('content-length'));
    }),
  );
  assert.ok(sizes.reduce((sum, size) => sum + size, 0) < FIRST_MAX, `${sizes} bytes at first`);
});

test('unknown files are not found, and no path leads out', async () => {
  for (const path of [
    'no.js',
    'index.html',
    '..%2f..%2fpackage.json',
    '%2e%2e/main.ts',
    'a/b.js',
  ]) {
    const answer = await fetch(`${server.base}/console/assets/${path}`);
    const text = await answer.text();
    assert.ok(answer.status === 404 || text.includes('<div id="console">'), `${path}: ${text}`);
    assert.doesNotMatch(text, /devDependencies|restoreSession/);
  }
});

test('it can be turned off, and is not part of other ports', async () => {
  await using off = await startServer({
    settings: { TAPEDECK_CONSOLE: 'off', TAPEDECK_SANDBOX_PORT: '0', TAPEDECK_STREAM_PORT: '0' },
  });
  assert.equal((await fetch(`${off.base}/console`)).status, 404);
  await using on = await startServer({
    settings: { TAPEDECK_SANDBOX_PORT: '0', TAPEDECK_STREAM_PORT: '0' },
  });
  for (const base of [on.tapedeck.sandbox, on.tapedeck.streaming]) {
    assert.equal((await fetch(`${base}/console`)).status, 404);
  }
});

test('the pictures of its documentation page exist and are small', () => {
  const docs = join(import.meta.dirname, '..', '..', 'docs', 'guides');
  const named = [
    ...readFileSync(join(docs, 'console.md'), 'utf8').matchAll(/\]\((pictures\/\w+\.png)\)/g),
  ];
  const sizes = named.map(([, path = '']) => statSync(join(docs, path)).size);
  assert.equal(sizes.length, readdirSync(join(docs, 'pictures')).length);
  assert.ok(sizes.reduce((sum, size) => sum + size, 0) < 300_000, sizes.join());
});
