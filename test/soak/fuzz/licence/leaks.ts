// Unpaid answers reveal nothing: two shops differ in one licensed value, and every answer that is free or
// failed must be the same in both, its status, headers, body and length.
import { seeded, type Seeded } from '../../crash/rounds/seeded.ts';
import { foldedQuery } from './foldedQueries.ts';
import { ask, type Bar, barsOf, openShop, type Shop, type Answer } from './shop.ts';

interface Request {
  readonly path: string;
  readonly init?: RequestInit;
}

interface LeaksReport {
  readonly failures: readonly string[];
  readonly answers: number;
  /** Answers that were compared: free or failed. */
  readonly compared: number;
}

/** Plays `count` random requests, and each of the fixed ones unless they are left out, in two shops. */
export async function leaksLaw(count: number, seed: number, fixed = true): Promise<LeaksReport> {
  const random = seeded(seed);
  const record = random.between(0, barsOf(seed).length - 1);
  const close = random.between(100_000, 900_000) / 100;
  const values: Partial<Bar> = { close, volume: 77_777, note: `a longer note ${close}`, up: true };
  const settings = { TAPEDECK_SQL_TIMEOUT: '20000' };
  await using one = await openShop(seed, undefined, settings);
  await using other = await openShop(seed, { record, values }, settings);
  const bar = one.bars[record];
  if (bar === undefined) throw new Error('there is a record');
  const requests = [
    ...(fixed ? fixedRequests(bar) : []),
    ...Array.from({ length: count }, () => randomRequest(random, bar)),
  ];
  const report = { failures: [] as string[], answers: 0, compared: 0 };
  for (const request of requests) {
    const [a, b] = [await play(one, request), await play(other, request)];
    report.answers += 1;
    if (!isUnpaid(a, request) && !isUnpaid(b, request)) continue;
    report.compared += 1;
    const [original, changed] = [shownOf(a), shownOf(b)];
    if (original === changed) continue;
    report.failures.push(`${JSON.stringify(request)}\n${original}\n${changed}`);
  }
  return report;
}

/** An answer to HEAD is compared too, since it must reveal nothing beyond its headers. */
const isUnpaid = ({ status, used }: Answer, { init }: Request): boolean =>
  used === 0 || status >= 400 || init?.method === 'HEAD';

const play = (shop: Shop, { init, path }: Request): Promise<Answer> => ask(shop, path, init);

/** The content of an answer, without the parts that differ each time. */
function shownOf({ body, headers, status }: Answer): string {
  const ignored = new Set(['date', 'x-request-id']);
  const lines = [...headers].filter(([name]) => !ignored.has(name));
  const bare = body
    .replaceAll(/ \([0-9A-F]{14}\)/g, '')
    .replaceAll(/code [0-9A-F]{14}/g, 'code')
    .replaceAll(/sk_…[0-9a-f]{4}/g, 'sk_…');
  return `${status} ${JSON.stringify(lines)} ${bare.slice(0, 2_000)} of ${bare.length}`;
}

const sql = (text: string, query = '', method = 'POST'): Request =>
  method === 'POST'
    ? { path: `/sql-query/SHOP${query}`, init: { method, body: text } }
    : { path: `/sql-query/SHOP?sqlQuery=${encodeURIComponent(text)}`, init: { method } };

/** Each endpoint, with each way in which it answers for free or fails. */
function fixedRequests(bar: Bar): readonly Request[] {
  const { date, symbol } = bar;
  const one = `WHERE symbol = '${symbol}' AND date = '${date}'`;
  const reads = [
    `/data/CORE/BARS/${symbol}`,
    `/time-series/BARS/${symbol}`,
    `/data/CORE/PREMIUM/${symbol}`,
    `/data/CORE/PLAIN/${symbol}`,
    `/data/SHOP/MINE/${symbol}`,
    `/data/SHOP/NESTED/${symbol}`,
    `/data/SHOP/MEANS/${symbol}`,
    `/data/SHOP/PACKED/${symbol}`,
    `/data/CORE/BARS,OPEN/${symbol}`,
    `/stock/${symbol}/chart`,
    `/stock/${symbol}/batch`,
    `/endpoints/SHOP/ABOVE`,
  ];
  const more = (path: string): string => {
    if (path.endsWith('/batch')) return 'types=chart,historical-prices&range=1m';
    if (path.endsWith('/ABOVE')) return `symbol=${symbol}`;
    return path.includes('/chart') ? 'range=1m' : 'from=2024-01-01';
  };
  const free = reads.flatMap((path): readonly Request[] => {
    const url = `${path}?${more(path)}`;
    return [
      { path: url, init: { method: 'HEAD' } },
      { path: `${url}&estimate=true` },
      ...[0, 1, 5, 11, 23, 35, 47].map((most) => ({ path: `${url}&maxMessages=${most}` })),
      { path: `${url}&schema=true` },
      { path: `${url}&explain=true` },
      { path: `${url}&filter=nonsense` },
      { path: `${url}&format=nonsense` },
      { path: `${url}&subattribute=close%7C${bar.close}&estimate=true` },
      { path: `${url}&subattribute=note%7C${encodeURIComponent(bar.note)}&maxMessages=0` },
      { path: `${url}&collapse=monthly%7Csum&estimate=true` },
      { path: `${url}&transform=cumul&maxMessages=3` },
    ];
  });
  const texts = [
    `SELECT * FROM CORE.BARS ${one}`,
    `SELECT close FROM CORE.BARS WHERE close = ${bar.close}`,
    `SELECT avg(close), max(note) FROM CORE.BARS ${one}`,
    `WITH w AS MATERIALIZED (SELECT CAST(note AS INTEGER) AS n FROM CORE.BARS) SELECT n FROM w`,
    `SELECT n FROM NUMS WHERE n = (SELECT CAST(max(note) AS INTEGER) FROM CORE.BARS ${one})`,
    `SELECT * FROM PACKED`,
  ];
  const sqlRequests = texts.flatMap((text) => [
    sql(text, '?estimate=true'),
    sql(text, '?explain=true'),
    sql(text, '?schema=true'),
    sql(text, '?maxMessages=2'),
    sql(text, '', 'HEAD'),
  ]);
  return [...free, ...sqlRequests, ...failing(bar).map((text) => sql(text)), ...listed(symbol)];
}

/** Queries that fail on the record for any value; some of their messages could contain it. */
function failing({ close, date, note, symbol }: Bar): readonly string[] {
  const one = `WHERE symbol = '${symbol}' AND date = '${date}'`;
  const casts = ['INTEGER', 'DATE', 'TIMESTAMP', 'BOOLEAN', 'DOUBLE', 'DECIMAL(4, 1)'];
  return [
    ...casts.map((type) => `SELECT CAST(note AS ${type}) AS v FROM CORE.BARS ${one}`),
    ...casts.map(
      (type) => `SELECT CAST(note AS ${type}) AS v, '${note}' AS guess FROM CORE.BARS ${one}`,
    ),
    `SELECT CAST(close * 1e300 * 1e10 AS INTEGER) AS v, ${close} AS guess FROM CORE.BARS ${one}`,
    `SELECT CAST(volume + 1000000 AS TINYINT) AS v FROM CORE.BARS ${one}`,
    `SELECT CAST(max(note) AS INTEGER) AS v FROM MINE ${one}`,
    `SELECT CAST(note AS INTEGER) AS v FROM NESTED ${one}`,
    `SELECT date_trunc(note, date) AS v FROM CORE.BARS ${one}`,
    `SELECT date_part(note, date) AS v FROM CORE.BARS ${one}`,
    `SELECT strptime(note, '%Y') AS v FROM CORE.BARS ${one}`,
    `SELECT regexp_matches('a', '(' || note) AS v FROM CORE.BARS ${one}`,
    `SELECT json_extract(note, '$.a') AS v FROM CORE.BARS ${one}`,
    `SELECT CAST(note AS INTERVAL) AS v FROM CORE.BARS ${one}`,
    `SELECT (SELECT note FROM CORE.BARS WHERE symbol = '${symbol}') AS v`,
    `SELECT CASE WHEN close > 0 THEN CAST('no number' AS INTEGER) ELSE length(note) END AS v
      FROM CORE.BARS ${one}`,
    `SELECT n FROM NUMS WHERE n = (SELECT CAST(note AS INTEGER) FROM CORE.BARS ${one})`,
    `SELECT missing FROM CORE.BARS`,
    `SELECT close + note AS v FROM CORE.BARS ${one}`,
    `SELECT sum(note) AS v FROM CORE.BARS`,
    `SELECT * FROM CORE.BARS ORDER BY nothing`,
  ];
}

/** Requests that list or describe datasets, or that try to export licensed data and are refused. */
function listed(symbol: string): readonly Request[] {
  const post = (path: string, value: object): Request => ({
    path,
    init: { method: 'POST', body: JSON.stringify(value) },
  });
  const failingView = 'SELECT CAST(note AS INTEGER) AS n FROM CORE.BARS';
  return [
    '/time-series',
    '/data/CORE',
    '/data',
    '/datasets/CORE',
    '/datasets/SHOP',
    '/meta/SHOP',
    '/versions/CORE/BARS',
    '/changes/CORE/BARS?since=0',
    '/views/SHOP',
    '/views/SHOP/MINE',
    `/data/CORE/BARS/NONE?last=5`,
    `/stock/NONE/chart?range=1m`,
    `/data/CORE/MISSING`,
    `/data/CORE/BARS/${symbol}?from=2030-01-01`,
    `/openapi-doc/SHOP`,
    '/account/usage/messages',
  ]
    .map((path): Request => ({ path }))
    .concat([
      post('/exports/SHOP', {
        query: 'SELECT * FROM CORE.BARS',
        target: { type: 'FILE', path: 'x' },
      }),
      post('/exports/SHOP', { dataset: 'CORE.BARS', target: { type: 'FILE', path: 'x' } }),
      post('/views/SHOP/FAILING', { view: { query: failingView } }),
      post('/views/SHOP/WRONG', { view: { query: 'SELECT nothing FROM CORE.BARS' } }),
    ]);
}

function randomRequest(random: Seeded, bar: Bar): Request {
  const text = random.chance(0.7) ? foldedQuery(random) : random.pick(asList(failing(bar)));
  const how = random.pick([
    ...(['?estimate=true', '?explain=true', '?schema=true', '?maxMessages=1'] as const),
    ...(['?estimate=true&format=csv', '?maxMessages=40', '?maxMessages=200', ''] as const),
  ] as const);
  return how !== '' || random.chance(0.5) ? sql(text, how) : sql(text, '', 'HEAD');
}

const asList = (texts: readonly string[]): readonly [string, ...string[]] => {
  const [first = '', ...rest] = texts;
  return [first, ...rest];
};
