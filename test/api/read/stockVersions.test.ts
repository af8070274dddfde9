// Versions of stock answers: their moment, their tags after a batch, and filters that name nothing of them.
import assert from 'node:assert/strict';
import { afterAll, beforeAll, test } from 'vitest';
import { startServer, type TestServer } from '../../base/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ seams: { clock: () => Date.parse('2024-03-01T22:00:00Z') } });
  await loadBars('A,2024-02-28,10\nA,2024-02-29,11\nB,2024-02-29,20\n');
});
afterAll(() => server.close());

const loadBars = async (csv: string): Promise<void> => {
  const index = 'key=symbol&date=date';
  const url = `${server.base}/v1/data/CORE/HISTORICAL_PRICES?wait=true&${index}&token=${server.secret}`;
  const answer = await fetch(url, { method: 'POST', body: `symbol,date,close\n${csv}` });
  assert.equal(answer.status, 200, await answer.text());
};

async function get(path: string, headers: Readonly<Record<string, string>> = {}) {
  const authorization = `Bearer ${server.secret}`;
  const answer = await fetch(`${server.base}/v1/stock/${path}`, {
    headers: { authorization, ...headers },
  });
  const text = await answer.text();
  const header = (name: string): string => answer.headers.get(name) ?? '';
  return { status: answer.status, text, moment: header('svccloud-as-of'), tag: header('etag') };
}

test('an answer as of a moment has that moment, so that it can be read again', async () => {
  const paths = ['A/chart/1m', 'A/previous', 'A/batch?types=chart,previous&range=1m'];
  const before = await Promise.all(paths.map((path) => get(path)));
  await loadBars('A,2024-02-29,99\n');
  for (const [at, path] of paths.entries()) {
    const { moment = '', text } = before[at] ?? {};
    const again = await get(`${path}${path.includes('?') ? '&' : '?'}asOf=${moment}`);
    assert.deepEqual([again.text, again.moment], [text, moment], path);
    assert.notEqual((await get(path)).text, text, path);
  }
});

test('a single answer keeps its tag after a batch', async () => {
  await get('B/batch?types=chart&range=3m');
  const { tag, text } = await get('B/chart/3m');
  assert.match(tag, /^".+"$/);
  assert.equal(JSON.parse(text).length, 1);
  assert.equal((await get('B/chart/3m', { 'if-none-match': tag })).status, 304);
});

test('a filter that names no attribute of the answer is refused', async () => {
  const refused = [
    'A/indicator/sma?range=max&filter=date,close',
    'A/chart/1m?filter=notional',
    'A/chart/1m?filter=minute',
    'A/batch?types=chart&range=1m&filter=notional',
  ];
  for (const path of refused) assert.equal((await get(path)).status, 400, path);
  assert.equal((await get('A/indicator/sma?range=max&filter=chart')).status, 200);
  assert.equal((await get('A/chart/1m?filter=close')).status, 200);
});
