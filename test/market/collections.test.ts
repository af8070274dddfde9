// A collection of hundreds of companies is answered completely, even if a read process has little memory.
import assert from 'node:assert/strict';
import { afterAll, beforeAll, test } from 'vitest';
import { addDays } from '../../query/time/days.ts';
import { startServer, type TestServer } from '../base/server.ts';

const NOW_MS = Date.parse('2024-02-29T19:00:00Z');
const SYMBOLS = Array.from({ length: 300 }, (_, at) => `S${String(at).padStart(3, '0')}`);
const DAYS = Array.from({ length: 260 }, (_, at) => addDays('2024-02-28', -at));
/** Minutes of sessions of 360 minutes. */
const MINUTES = DAYS.slice(0, 10).flatMap((day) =>
  Array.from({ length: 360 }, (_, at) => {
    const [hour, minute] = [10 + Math.floor(at / 60), at % 60];
    return `${day},${hour}:${String(minute).padStart(2, '0')}`;
  }),
);

let server: TestServer;

beforeAll(async () => {
  server = await startServer({
    settings: { TAPEDECK_CHILD_MEMORY: String(64 * 1024 ** 2) },
    seams: { clock: () => NOW_MS },
  });
  const bars = SYMBOLS.flatMap((symbol, at) =>
    DAYS.map((day, ago) => `${symbol},${day},10,12,9,${10 + ago / 100},${1_000 + at}`),
  );
  await load('HISTORICAL_PRICES', ['symbol,date,open,high,low,close,volume', ...bars]);
  const minutes = SYMBOLS.flatMap((symbol) =>
    MINUTES.map((minute) => `${symbol},${minute},10,12,9,11,100`),
  );
  await load('INTRADAY_PRICES', ['symbol,date,minute,open,high,low,close,volume', ...minutes]);
  const companies = SYMBOLS.map((symbol) => `${symbol},${symbol} Corp,Energy`);
  await load('COMPANY', ['symbol,companyName,sector', ...companies]);
});
afterAll(() => server.close());

test.each([
  ['a sector of hundreds', 'sector?collectionName=Energy', 300],
  ['the longest list', 'list?collectionName=mostactive&listLimit=100', 100],
])('%s', async (_, path, count) => {
  const url = `${server.base}/v1/stock/market/collection/${path}&token=${server.publishable}`;
  const answer = await fetch(url);
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  const rows = JSON.parse(text) as readonly { readonly symbol: string }[];
  const symbols = new Set(rows.map(({ symbol }) => symbol));
  assert.deepEqual([rows.length, symbols.size], [count, count]);
  assert.equal(answer.headers.get('svccloud-messages-used'), String(count));
});

test('a list has its default length, unless a request sets another one', async () => {
  const lists = [
    ['collection/list?collectionName=mostactive&', '10'],
    ['list/mostactive?', '20'],
  ] as const;
  for (const [path, messages] of lists) {
    const url = `${server.base}/v1/stock/market/${path}token=${server.publishable}`;
    const answer = await fetch(url);
    assert.equal(((await answer.json()) as readonly object[]).length, 10, path);
    assert.equal(answer.headers.get('svccloud-messages-used'), messages);
  }
});

async function load(id: string, lines: readonly string[]): Promise<void> {
  const url = `${server.base}/v1/data/CORE/${id}?wait=true&token=${server.secret}`;
  const answer = await fetch(url, { method: 'POST', body: lines.join('\n') });
  assert.equal(answer.status, 200, await answer.text());
}
