// Times with nanoseconds in files of market inputs, which declare microseconds: the digits below are cut, and
// the answer counts them.
import assert from 'node:assert/strict';
import { expect, test } from 'vitest';
import { parquetOf } from '../../soak/fuzz/http/bases.ts';
import { coreFolder } from './coreFolder.ts';

interface Answer {
  readonly stored: number;
  readonly rejected: number;
  readonly notes: readonly string[];
}

async function post(base: string, secret: string, body: string | Uint8Array): Promise<Answer> {
  const url = `${base}/v1/data/CORE/TRADES?wait=true&token=${secret}`;
  const answer = await fetch(url, {
    method: 'POST',
    body: body as string | Uint8Array<ArrayBuffer>,
  });
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  return JSON.parse(text) as Answer;
}

test('nanoseconds of trades are cut with a note, in each format', async () => {
  await using core = await coreFolder();
  const { base, secret } = core.server;
  const head = 'symbol,time,tradeId,price,size\n';
  const texts = ['2024-01-02T14:30:00.123456789Z', '2024-01-02T14:30:00.5Z'];
  const counts = ['1704205800123456789', '1704205800500000000'];
  const csv = (symbol: string, times: readonly string[]): string =>
    head + times.map((time, at) => `${symbol},${time},${at},101.5,100\n`).join('');
  const json = (symbol: string, times: readonly string[]): string =>
    times
      .map(
        (time, at) =>
          `{"symbol":"${symbol}","time":${time},"tradeId":"${at}","price":1.5,"size":9}\n`,
      )
      .join('');
  const parquet = (symbol: string, type: string): Promise<Uint8Array> =>
    parquetOf(`SELECT '${symbol}' AS symbol, CAST(t AS ${type}) AS time, CAST(n AS VARCHAR) AS tradeId,
      1.5 AS price, 9 AS size
      FROM (VALUES ('${texts[0]?.slice(0, -1)}', 0), ('${texts[1]?.slice(0, -1)}', 1)) AS v(t, n)`);
  const plain = await core.write('plain.csv', csv('NONE', ['2024-01-02T14:30:00.123456Z']));
  const ran = await core.loaded(plain, '--as', 'TRADES');
  expect(ran.stdout + ran.stderr).not.toContain('cut to');
  const files: Readonly<Record<string, string | Uint8Array>> = {
    CSV: csv('CSV', texts),
    COUNT: csv('COUNT', counts),
    JSON: json(
      'JSON',
      texts.map((text) => `"${text}"`),
    ),
    JSONCOUNT: json('JSONCOUNT', counts),
    PARQUET: await parquet('PARQUET', 'TIMESTAMP_NS'),
    PARQUETTEXT: await parquet('PARQUETTEXT', 'VARCHAR'),
  };
  for (const [symbol, body] of Object.entries(files)) {
    const { notes, rejected, stored } = await post(base, secret, body);
    expect([symbol, stored, rejected]).toEqual([symbol, 2, 0]);
    expect([symbol, notes.join()]).toEqual([
      symbol,
      expect.stringMatching(
        /time: 1 time is cut to microseconds, the first is .*123456789.* in line [12]/,
      ),
    ]);
    const rows = await core.get(`/data/CORE/TRADES/${symbol}?last=9&sort=asc`);
    expect([
      symbol,
      (rows as readonly { readonly time: string }[]).map(({ time }) => time),
    ]).toEqual([symbol, ['2024-01-02T14:30:00.123456Z', '2024-01-02T14:30:00.500Z']]);
  }
});

test('a Polygon file of trades loads', async () => {
  await using core = await coreFolder();
  const file = await core.write(
    'trades.csv',
    'ticker,conditions,correction,exchange,id,participant_timestamp,price,sequence_number,' +
      'sip_timestamp,size,tape,trf_id,trf_timestamp',
    'PO,"12,37",0,11,1,1704205800123456789,101.5,1,1704205800123556789,100,1,0,0',
    'PO,"12,37",0,11,2,1704205800123456790,101.6,2,1704205800123556790,200,1,0,0',
  );
  const ran = await core.loaded(file, '--as', 'TRADES', '--map', 'participant_timestamp=time');
  expect(ran.stdout + ran.stderr).toContain('cut to microseconds');
  expect(await core.get('/data/CORE/TRADES/PO?last=9&sort=asc')).toMatchObject([
    { tradeId: '1', price: 101.5 },
    { tradeId: '2', price: 101.6 },
  ]);
});
