// No answer of the API runs as a page: any text that a caller gets echoed has a policy that
// blocks all scripts.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { startServer } from '../../base/server.ts';

const MARKUP = '<img src=x onerror=alert(1)>';

test('answers to a cross-site form carry the policy, and no markup in a sentence', async () => {
  await using server = await startServer();
  const form = {
    method: 'POST',
    headers: {
      'content-type': 'text/plain',
      'sec-fetch-mode': 'navigate',
      accept: 'text/html,*/*',
    },
    body: JSON.stringify({ [MARKUP]: 1, ruleName: MARKUP, token: server.secret }),
  };
  const asks = [
    ['/rules/create', form],
    ['/stream/subscriptions', form],
    ['/replays', form],
    ['/rules/backtest', form],
    [`/data/WS/${encodeURIComponent(MARKUP)}?token=${server.secret}`, {}],
    [`/stock/${encodeURIComponent(MARKUP)}/quote?token=${server.publishable}`, {}],
    [`/time-series/X?${encodeURIComponent(MARKUP)}=1&token=${server.publishable}`, {}],
    [`/data/WS?token=${encodeURIComponent(MARKUP)}`, {}],
    [`/${encodeURIComponent(MARKUP)}`, {}],
    ['/status', {}],
    ['/openapi-doc', {}],
    ['/%', {}],
  ] as const;
  for (const [path, init] of asks) {
    const answer = await fetch(`${server.base}/v1${path}`, init);
    const text = await answer.text();
    assert.equal(
      answer.headers.get('content-security-policy'),
      "default-src 'none'; sandbox",
      path,
    );
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff', path);
    assert.equal(answer.headers.get('access-control-allow-credentials'), null, path);
    const isPage = (answer.headers.get('content-type') ?? '').startsWith('text/html');
    if (isPage) assert.doesNotMatch(text, /</, `${path}: ${text}`);
  }
});
