// CORE is filled with the synthetic exchange, kept up to date, and replaced by data of its owner.
import assert from 'node:assert/strict';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, test } from 'vitest';
import { INPUTS } from '../../../market/inputs/inputs.ts';
import { FILLED } from '../../../market/inputs/inputRow.ts';
import { openStream, until } from '../../api/streams/listening.ts';
import { send } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';

/** Friday noon, and Tuesday evening after it, in New York. */
const FRIDAY = Date.parse('2026-01-30T17:00:00Z');
const TUESDAY = Date.parse('2026-02-03T23:00:00Z');

const SMALL = { symbols: 4, years: 10, minuteDays: 5 } as const;
const SYNTHETIC = 'Synthetic exchange';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tapedeck-exchange-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** A folder that was filled on Friday, created once: filling takes as long as the rest of a test. */
let friday: Promise<string> | undefined;
afterAll(async () => {
  if (friday !== undefined) await rm(await friday, { recursive: true, force: true });
});

async function filledFolder(): Promise<string> {
  const place = await mkdtemp(join(tmpdir(), 'tapedeck-exchange-'));
  const exchange = { ...SMALL };
  const server = await startServer({ folder: place, seams: { clock: () => FRIDAY, exchange } });
  await filled(server);
  await server.close();
  return place;
}

/** Opens a copy of it, in the folder of the test. */
async function openFilled(place = folder): Promise<TestServer> {
  friday ??= filledFolder();
  await cp(await friday, place, { recursive: true });
  return filled(await open(FRIDAY, SMALL.symbols, place));
}

const open = (
  nowMs: number,
  symbols: number = SMALL.symbols,
  place = folder,
): Promise<TestServer> =>
  startServer({ folder: place, seams: { clock: () => nowMs, exchange: { ...SMALL, symbols } } });

const CLOSES =
  'SELECT symbol, date, close FROM HISTORICAL_PRICES ORDER BY symbol, date LIMIT 100000';
const OWN = 'symbol,exDate,amount,extra\nmsft,2026-01-02,0.5,yes\n';

interface Later {
  readonly server: TestServer;
  /** Result of `CLOSES` on Friday. */
  readonly before: readonly unknown[];
}

/** Changes of two datasets by the owner on Friday, and the start on Tuesday: shared by several tests. */
let later: Promise<Later> | undefined;
afterAll(async () => {
  if (later === undefined) return;
  const { server } = await later;
  await server.close();
  await rm(server.folder, { recursive: true, force: true });
});

const openLater = (): Promise<Later> => (later ??= startedLater());

async function startedLater(): Promise<Later> {
  const place = await mkdtemp(join(tmpdir(), 'tapedeck-exchange-'));
  const onFriday = await openFilled(place);
  const before = await sql(onFriday, CLOSES);
  const [status, text] = await load(onFriday, 'CORE/DIVIDENDS?key=symbol&date=exDate', OWN);
  assert.equal(status, 200, text);
  assert.equal((await send(onFriday, 'DELETE', '/datasets/CORE/QUOTES')).status, 200);
  await onFriday.close();
  return { server: await filled(await open(TUESDAY, SMALL.symbols, place)), before };
}

async function filled(server: TestServer): Promise<TestServer> {
  await server.tapedeck.exchange?.filled();
  return server;
}

interface DatasetView {
  readonly datasetId: string;
  readonly source: string;
  readonly description: string;
  readonly title: string;
  readonly weight: number;
  readonly records: number;
  readonly columnMapping: object;
  readonly schema: { readonly properties: object };
}

async function datasets(server: TestServer): Promise<ReadonlyMap<string, DatasetView>> {
  const { text } = await send(server, 'GET', '/datasets/CORE');
  return new Map((JSON.parse(text) as DatasetView[]).map((one) => [one.datasetId, one]));
}

async function sql(server: TestServer, query: string): Promise<readonly unknown[]> {
  const { status, text } = await send(
    server,
    'GET',
    `/sql-query/CORE?sqlQuery=${encodeURIComponent(query)}`,
  );
  assert.equal(status, 200, text);
  return JSON.parse(text) as unknown[];
}

async function load(
  server: TestServer,
  place: string,
  body: string,
): Promise<readonly [number, string]> {
  const url = `${server.base}/v1/data/${place}${place.includes('?') ? '&' : '?'}wait=true`;
  const headers = { authorization: `Bearer ${server.secret}` };
  const answer = await fetch(url, { method: 'POST', headers, body });
  return [answer.status, await answer.text()];
}

test('every input is filled, declared as invented, and consistent with the others', async () => {
  await using server = await openFilled();
  const filledDatasets = await datasets(server);
  assert.deepEqual([...filledDatasets.keys()].sort(), [...FILLED].sort());
  for (const { description, records, source, datasetId } of filledDatasets.values()) {
    assert.equal(source, SYNTHETIC);
    assert.match(description, /no company, price or trade in it is real/);
    assert.ok(records > 0, datasetId);
  }
  for (const { id, mapping, weight } of INPUTS.filter((one) => filledDatasets.has(one.id))) {
    const { columnMapping, weight: charged } = filledDatasets.get(id) ?? {};
    assert.deepEqual([columnMapping, charged], [mapping, weight], id);
  }
  assert.deepEqual(await sql(server, 'SELECT max(date) AS d FROM HISTORICAL_PRICES'), [
    { d: '2026-01-29' },
  ]);
  // All minutes of a session, added up by SQL.
  const differing = await sql(
    server,
    `SELECT m.symbol, m.date FROM (SELECT symbol, date, max(high) AS high, min(low) AS low,
     sum(volume) AS volume FROM INTRADAY_PRICES GROUP BY symbol, date) m
     JOIN HISTORICAL_PRICES d ON m.symbol = d.symbol AND m.date = d.date
     WHERE m.high <> d.high OR m.low <> d.low OR m.volume <> d.volume`,
  );
  assert.deepEqual(differing, []);
  const [{ last } = { last: '' }] = (await sql(server, 'SELECT max(time) AS last FROM TRADES')) as {
    last: string;
  }[];
  const lastMs = Date.parse(last.includes('Z') ? last : `${last}Z`);
  assert.ok(lastMs < FRIDAY && lastMs > FRIDAY - 120_000, last);
});

test('each company has news, latest first', async () => {
  await using server = await openFilled();
  const { text } = await send(server, 'GET', '/stock/CORADO/news/last/3');
  const news = JSON.parse(text) as readonly Readonly<Record<string, unknown>>[];
  assert.equal(news.length, 3);
  assert.deepEqual(Object.keys(news[0] ?? {}).sort(), [
    'datetime',
    'hasPaywall',
    'headline',
    'image',
    'lang',
    'related',
    'source',
    'summary',
    'symbol',
    'url',
    'uuid',
  ]);
  const times = news.map(({ datetime }) => Number(datetime));
  assert.deepEqual(
    times,
    times.toSorted((one, other) => other - one),
  );
  assert.ok(times.every((time) => time <= FRIDAY));
  assert.match(String(news[0]?.['summary']), /Invented: this company does not exist/);
  const market = await send(server, 'GET', '/stock/market/news/last/2');
  assert.equal((JSON.parse(market.text) as unknown[]).length, 2);
  const stream = await openStream(server, '/news-stream?symbols=CORADO');
  await until(() => stream.messages().length > 0);
  assert.equal(stream.messages()[0]?.['uuid'], news[0]?.['uuid']);
  await stream.close();
});

test('a later start continues the history and drops what is old', async () => {
  const minutes = 'SELECT min(date) AS first, max(date) AS last FROM INTRADAY_PRICES';
  const ticks =
    'SELECT count(*) AS n, count(DISTINCT left(CAST(time AS CHAR), 10)) AS days FROM TRADES';
  {
    await using server = await openFilled();
    assert.deepEqual(await sql(server, minutes), [{ first: '2026-01-26', last: '2026-01-30' }]);
    const today = "SELECT max(minute) AS last FROM INTRADAY_PRICES WHERE date = '2026-01-30'";
    assert.deepEqual(await sql(server, today), [{ last: '11:59' }], 'the minutes that are over');
  }
  const { before, server } = await openLater();
  const after = await sql(server, CLOSES);
  assert.equal(after.length, before.length + 3 * SMALL.symbols);
  const texts = new Set(after.map((one) => JSON.stringify(one)));
  assert.ok(
    before.every((one) => texts.has(JSON.stringify(one))),
    'the same history',
  );
  assert.deepEqual(await sql(server, minutes), [{ first: '2026-01-29', last: '2026-02-03' }]);
  const [row] = (await sql(server, ticks)) as { n: number; days: number }[];
  assert.ok(row !== undefined && row.n > 1_000);
  assert.equal(row.days, 1, 'ticks are those of the latest session');
});

test('a start that changes nothing loads nothing', async () => {
  await using server = await openFilled();
  const { database } = server.tapedeck.services;
  const jobs = await database.selectFrom('job').select('job_id').execute();
  assert.equal(jobs.length, FILLED.length);
});

test('an interrupted fill is completed by the next start', async () => {
  await (await open(FRIDAY)).close();
  await using server = await filled(await open(FRIDAY));
  assert.equal((await datasets(server)).size, FILLED.length);
  const [row] = await sql(server, 'SELECT count(*) AS n FROM SYMBOLS');
  assert.deepEqual(row, { n: SMALL.symbols });
});

test('the first load replaces all synthetic records in one version, and stays', async () => {
  {
    await using server = await openFilled();
    const before = (await datasets(server)).get('DIVIDENDS')?.records ?? 0;
    const bad = await load(server, 'CORE/DIVIDENDS', '<html>no data</html>');
    const header = await load(server, 'CORE/DIVIDENDS', 'symbol,exDate,refid,amount\n');
    assert.deepEqual([bad[0], header[0]], [400, 400]);
    assert.equal((await datasets(server)).get('DIVIDENDS')?.records, before);
    const [status, text] = await load(server, 'CORE/DIVIDENDS?key=symbol&date=exDate', OWN);
    assert.equal(status, 200, text);
    const dividends = (await datasets(server)).get('DIVIDENDS');
    assert.deepEqual([dividends?.source, dividends?.description, dividends?.records], ['', '', 1]);
    assert.deepEqual(dividends?.columnMapping, { key: 'symbol', date: 'exDate' });
    assert.deepEqual(Object.keys(dividends?.schema.properties ?? {}), [
      'symbol',
      'exDate',
      'amount',
      'extra',
      'refid',
      'paymentDate',
      'recordDate',
      'declaredDate',
      'flag',
      'currency',
      'description',
      'frequency',
    ]);
    const { text: versions } = await send(server, 'GET', '/datasets/CORE/DIVIDENDS/versions');
    const [newest, first] = JSON.parse(versions) as { inserted: number; deleted: number }[];
    assert.deepEqual([newest?.inserted, newest?.deleted], [1, before]);
    assert.deepEqual([first?.inserted, first?.deleted], [before, 0]);
  }
  const { server } = await openLater();
  assert.deepEqual(await sql(server, 'SELECT symbol, amount, extra FROM DIVIDENDS'), [
    { symbol: 'MSFT', amount: 0.5, extra: 'yes' },
  ]);
  assert.equal((await datasets(server)).get('SPLITS')?.source ?? SYNTHETIC, SYNTHETIC);
  const more = await load(server, 'CORE/DIVIDENDS', 'symbol,exDate,amount\nA,2026-01-05,1\n');
  assert.equal(more[0], 200, more[1]);
  assert.equal((await datasets(server)).get('DIVIDENDS')?.records, 2, 'real records are added to');
});

/** Documented properties that the file does not have. */
const LACKING = { open: null, high: null, low: null, volume: null, isSplitAdjusted: null };

test('every endpoint reads the replacement, and with asOf the former data', async () => {
  await using server = await openFilled();
  const get = async (path: string): Promise<string> => {
    const answer = await send(server, 'GET', path);
    assert.equal(answer.status, 200, `${path}: ${answer.text}`);
    return answer.text;
  };
  const series = '/time-series/HISTORICAL_PRICES/SYNDEX?last=1&filter=source,date,close';
  const page = '/data/CORE/HISTORICAL_PRICES/SYNDEX?last=3';
  // Twice, so that it is in memory.
  const [seriesText] = [await get(series), await get(series)];
  const [old] = [await get(page), await get(page)];
  assert.match(seriesText, /"source":"Synthetic exchange"/);
  const { text: versions } = await send(server, 'GET', '/datasets/CORE/HISTORICAL_PRICES/versions');
  const [{ snapshot } = { snapshot: 0 }] = JSON.parse(versions) as { snapshot: number }[];
  await send(server, 'PATCH', '/datasets/CORE/HISTORICAL_PRICES', {
    weight: 3,
    access: { level: 'restricted' },
  });
  const symbols = async (): Promise<readonly string[]> =>
    (JSON.parse(await get('/ref-data/iex/symbols')) as { symbol: string }[]).map(
      ({ symbol }) => symbol,
    );
  assert.equal((await symbols()).length, SMALL.symbols);
  assert.match(await get('/ref-data/tags'), /"Utilities"/);
  const own = 'close,symbol,date,vwap\n9,SYNDEX,2026-01-29,8.5\n8,SYNDEX,2026-01-28,8\n';
  const [status, text] = await load(server, 'CORE/HISTORICAL_PRICES', own);
  assert.equal(status, 200, text);
  assert.equal(await get(series), '[{"date":1769644800000,"close":9}]');
  assert.deepEqual(await symbols(), ['SYNDEX'], 'invented symbols are gone');
  assert.deepEqual(JSON.parse(await get(page)), [
    { ...LACKING, close: 9, symbol: 'SYNDEX', date: '2026-01-29', vwap: 8.5 },
    { ...LACKING, close: 8, symbol: 'SYNDEX', date: '2026-01-28', vwap: 8 },
  ]);
  assert.deepEqual(JSON.parse(await get(`${page}&asOf=${snapshot}`)), JSON.parse(old));
  const changes = await get(`/changes/CORE/HISTORICAL_PRICES?since=${snapshot}`);
  const [change] = JSON.parse(changes) as Readonly<Record<string, readonly unknown[]>>[];
  assert.deepEqual(change?.['inserted'], [
    ['SYNDEX', '2026-01-28'],
    ['SYNDEX', '2026-01-29'],
  ]);
  assert.ok((change?.['deleted'] ?? []).length > 1_000);
  const headers = { authorization: `Bearer ${server.secret}` };
  const dataset = await fetch(`${server.base}/v1/datasets/CORE/HISTORICAL_PRICES`, { headers });
  const { access, weight } = (await dataset.json()) as { access: object; weight: number };
  assert.deepEqual([access, weight], [{ level: 'restricted' }, 3], 'its own settings remain');
});

test('a pushed record replaces all synthetic records', async () => {
  await using server = await openFilled();
  const bar = { symbol: 'mine', date: '2026-01-29', close: 3 };
  const { status, text } = await send(server, 'POST', '/record/CORE/HISTORICAL_PRICES', bar);
  assert.equal(status, 200, text);
  assert.deepEqual(await sql(server, 'SELECT symbol, close FROM HISTORICAL_PRICES'), [
    { symbol: 'MINE', close: 3 },
  ]);
  const second = { ...bar, date: '2026-01-28' };
  await send(server, 'POST', '/record/CORE/HISTORICAL_PRICES', second);
  assert.equal((await sql(server, 'SELECT date FROM HISTORICAL_PRICES')).length, 2);
});

test("a change of its source or schema makes a dataset the owner's, and empty", async () => {
  await using server = await openFilled();
  const change = (id: string, body: object): Promise<{ status: number; text: string }> =>
    send(server, 'PATCH', `/datasets/CORE/${id}`, body);
  assert.equal((await change('COMPANY', { weight: 4, title: 'Mine' })).status, 200);
  const named = (await datasets(server)).get('COMPANY');
  assert.deepEqual([named?.source, named?.weight, named?.records], [SYNTHETIC, 4, 4]);
  const response = await change('COMPANY', { source: 'a vendor' });
  assert.equal(response.status, 200, response.text);
  const own = (await datasets(server)).get('COMPANY');
  assert.deepEqual([own?.source, own?.description, own?.records], ['a vendor', '', 0]);
  const added = { schema: { properties: { colour: { type: 'string' } } } };
  assert.equal((await change('VENUES', added)).status, 200);
  assert.equal((await datasets(server)).get('VENUES')?.records, 0);
  const dataset = {
    datasetId: 'SYMBOLS',
    schema: {
      properties: { symbol: { type: 'string' }, validFrom: { type: 'string', format: 'date' } },
    },
  };
  const created = await send(server, 'POST', '/datasets/CORE', { dataset });
  assert.equal(created.status, 200, created.text);
  const symbols = (await datasets(server)).get('SYMBOLS');
  assert.deepEqual([symbols?.source, symbols?.records], ['', 0]);
  const again = await send(server, 'POST', '/datasets/CORE', { dataset });
  assert.equal(again.status, 409);
  const refused = await change('SYMBOLS', { source: SYNTHETIC });
  assert.equal(refused.status, 400);
  assert.match(refused.text, /source must not be Synthetic exchange/);
});

test('a dataset that its owner deleted is not filled again', async () => {
  const { server } = await openLater();
  assert.equal((await datasets(server)).has('QUOTES'), false);
  assert.equal((await datasets(server)).size, FILLED.length - 1);
});

test('TAPEDECK_DEMO=off disables the exchange', async () => {
  await using server = await startServer({ folder });
  assert.equal(server.tapedeck.exchange, undefined);
  assert.equal((await datasets(server)).size, 0);
});
