// Pushed records: visible at once on every door, the same before and after their flush, beside
// loads, deletions and restarts; a model in plain maps says what must be there.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { flushDataset } from '../../jobs/flush.ts';
import { loaded } from '../client.ts';
import { type Seeded, seeded } from '../crash/seeded.ts';
import { seedsOf } from '../seeds.ts';
import { startServer, type TestServer } from '../server.ts';

interface Row {
  readonly symbol: string;
  readonly date: string;
  readonly v: number | null;
  readonly note: string | null;
}

const SYMBOLS = ['A', 'B', 'C', 'D'] as const;
const DAYS = ['2020-01-01', '2020-01-02', '2020-01-03', '2020-01-04', '2020-01-05'] as const;
const indexOf = ({ symbol, date }: Row): string => `${symbol} ${date}`;

const rowOf = (random: Seeded, at: number): Row => ({
  symbol: random.pick(SYMBOLS),
  date: random.pick(DAYS),
  v: random.chance(0.2) ? null : at + random.between(0, 9) / 10,
  note: random.chance(0.2) ? null : `n${at} "quoted", \u00fc`,
});

async function ask(
  server: TestServer,
  method: string,
  path: string,
  body?: string,
): Promise<string> {
  const headers = { authorization: `Bearer ${server.secret}` };
  const init = body === undefined ? {} : { body };
  const answer = await fetch(`${server.base}/v1${path}`, { method, headers, ...init });
  const text = await answer.text();
  assert.equal(answer.status, 200, `${method} ${path}: ${text}`);
  return text;
}

const read = async (server: TestServer, path: string): Promise<readonly Row[]> =>
  JSON.parse(await ask(server, 'GET', path)) as readonly Row[];

/** Applies rows as the unique index has it: the first stays, or the last replaces. */
function apply(model: Map<string, Row>, rows: readonly Row[], replace: boolean): void {
  for (const row of rows) {
    if (replace || !model.has(indexOf(row))) model.set(indexOf(row), row);
  }
}

const newest = (rows: readonly Row[]): readonly Row[] =>
  rows.toSorted((a, b) =>
    a.date === b.date ? (a.symbol < b.symbol ? -1 : 1) : a.date < b.date ? 1 : -1,
  );

async function compare(
  server: TestServer,
  model: ReadonlyMap<string, Row>,
  told: string,
): Promise<void> {
  const all = newest([...model.values()]);
  assert.deepEqual(await read(server, '/data/WS/D?limit=1000'), all, `${told}: all`);
  const symbol = SYMBOLS[all.length % SYMBOLS.length] ?? 'A';
  const mine = all.filter((row) => row.symbol === symbol);
  assert.deepEqual(
    await read(server, `/data/WS/D/${symbol}?last=3`),
    mine.slice(0, 3),
    `${told}: a key`,
  );
  const dated = all.filter(({ date }) => date >= '2020-01-02' && date <= '2020-01-03');
  const ranged = await read(server, '/data/WS/D?from=2020-01-02&to=2020-01-03');
  assert.deepEqual(ranged, dated, `${told}: a range`);
  const dataset = JSON.parse(await ask(server, 'GET', '/datasets/WS/D')) as Record<string, number>;
  const keys = new Set(all.map((row) => row.symbol)).size;
  assert.deepEqual([dataset['records'], dataset['keys']], [all.length, keys], `${told}: counts`);
}

/** One step of a history: what it did. */
async function step(
  server: TestServer,
  model: Map<string, Row>,
  random: Seeded,
  at: number,
): Promise<string> {
  const replace = random.chance(0.5);
  const how = `duplicateKeyHandling=${replace ? 'replace' : 'ignore'}`;
  const rows = Array.from({ length: random.between(1, 3) }, (_, n) => rowOf(random, at * 10 + n));
  const dice = random.between(0, 9);
  if (dice < 6) {
    await ask(server, 'POST', `/record/WS/D?${how}`, JSON.stringify(rows));
    apply(model, rows, replace);
    return `push ${how} ${JSON.stringify(rows)}`;
  }
  if (dice === 6) {
    const lines = rows.map((row) => JSON.stringify(row)).join('\n');
    await ask(server, 'POST', `/data/WS/D?wait=true&${how}`, lines);
    apply(model, rows, replace);
    return `load ${how} ${lines}`;
  }
  if (dice === 7) {
    const { symbol } = rows[0] ?? { symbol: 'A' };
    await ask(server, 'DELETE', `/data/WS/D/${symbol}`);
    for (const [index, row] of model) if (row.symbol === symbol) model.delete(index);
    return `delete ${symbol}`;
  }
  const { lake, pending, ingestion, runner } = server.tapedeck.services;
  const dataset = lake.catalogue.dataset('WS', 'D');
  assert.ok(dataset);
  if (dice === 8)
    await runner.inTurn('WS', 'D', () => flushDataset(dataset, { pending, ingestion }));
  return dice === 8 ? 'flush' : 'nothing';
}

const STEPS = 20;

test('law: any history of pushes, loads, deletions and flushes answers as a plain map', async (t) => {
  for (const seed of seedsOf(t)) {
    const folder = await mkdtemp(join(tmpdir(), 'tapedeck-pending-'));
    const random = seeded(seed);
    const model = new Map<string, Row>();
    const first = { symbol: 'A', date: '2020-01-01', v: 0.5, note: 'x' };
    let server = await startServer({ folder });
    try {
      const lines = JSON.stringify(first);
      await loaded(server, 'D', lines, { key: 'symbol', date: 'date' });
      apply(model, [first], false);
      for (let at = 1; at <= STEPS; at += 1) {
        const told = `seed ${seed}, step ${at}: ${await step(server, model, random, at)}`;
        await compare(server, model, told);
        if (at % 10 !== 0) continue;
        await server.close();
        server = await startServer({ folder });
        await compare(server, model, `${told}, after a restart`);
      }
    } finally {
      await server.close();
      await rm(folder, { recursive: true, force: true });
    }
  }
});

test('what is pushed makes no version until its flush, then one; asOf sees it from there', async () => {
  await using server = await startServer();
  await loaded(server, 'D', '{"symbol":"A","date":"2020-01-01","v":1.5}', {
    key: 'symbol',
    date: 'date',
  });
  const { lake, pending, ingestion, runner } = server.tapedeck.services;
  const before = lake.snapshot;
  const records = Array.from({ length: 50 }, (_, at) => ({
    symbol: 'P',
    date: '2021-01-01',
    v: at + 0.5,
  }));
  await Promise.all(
    records.map((record) =>
      ask(server, 'POST', '/record/WS/D?duplicateKeyHandling=replace', JSON.stringify(record)),
    ),
  );
  assert.equal(lake.snapshot, before);
  const [seen] = await read(server, '/data/WS/D/P');
  assert.ok(seen !== undefined && records.some(({ v }) => v === seen.v));
  assert.deepEqual(await read(server, `/data/WS/D/P?asOf=${before}`), []);
  const dataset = lake.catalogue.dataset('WS', 'D');
  assert.ok(dataset);
  const updated = await ask(server, 'GET', '/time-series/WS.D/P');
  await runner.inTurn('WS', 'D', () => flushDataset(dataset, { pending, ingestion }));
  assert.equal(lake.snapshot, before + 1);
  assert.deepEqual(await read(server, `/data/WS/D/P?asOf=${lake.snapshot}`), [seen]);
  assert.equal(await ask(server, 'GET', '/time-series/WS.D/P'), updated, 'the same bytes after it');
});

test('values that need the exact way take it, with its words', async () => {
  await using server = await startServer();
  const schema = {
    properties: {
      symbol: { type: 'string' },
      date: { type: 'string', format: 'date' },
      at: { type: 'string', format: 'date-time' },
      n: { type: 'integer' },
      x: { type: 'number' },
      b: { type: 'boolean' },
      o: { type: 'object' },
    },
  };
  const dataset = { datasetId: 'D', schema, columnMapping: { key: 'symbol', date: 'date' } };
  await ask(server, 'POST', '/datasets/WS', JSON.stringify({ dataset }));
  const row = {
    symbol: 'A',
    date: '2020-02-29',
    at: '2020-01-01T10:00:00.5Z',
    n: 5,
    x: 2.5,
    b: true,
  };
  await ask(server, 'POST', '/record/WS/D', JSON.stringify({ ...row, o: { a: [1, 'x'] } }));
  const [first] = (await read(server, '/data/WS/D')) as unknown as readonly object[];
  assert.deepEqual(first, { ...row, at: '2020-01-01T10:00:00.500Z', o: { a: [1, 'x'] } });
  for (const [change, says] of [
    [{ date: '2021-02-29' }, /'date' should be date/],
    [{ n: 5.5 }, /'n' should be integer/],
    [{ symbol: '' }, /required property 'symbol'/],
    [{ b: 'perhaps' }, /'b' should be boolean/],
  ] as const) {
    const headers = { authorization: `Bearer ${server.secret}` };
    const body = JSON.stringify({ ...row, ...change });
    const answer = await fetch(`${server.base}/v1/record/WS/D`, { method: 'POST', headers, body });
    assert.equal(answer.status, 400);
    assert.match(await answer.text(), says);
  }
  await ask(server, 'POST', '/record/WS/D', JSON.stringify({ ...row, date: 'Mar 1 2020', n: '7' }));
  assert.equal((await read(server, '/data/WS/D?limit=9')).length, 2);
});
