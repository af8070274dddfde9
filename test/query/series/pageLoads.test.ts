// Bursts of first reads: few statements answer all of them, each with the same answer as alone.
import assert from 'node:assert/strict';
import { setTimeout as after } from 'node:timers/promises';
import { test } from 'vitest';
import { loaded, read } from '../../base/client.ts';
import { startServer } from '../../base/server.ts';
import { DuckDbPool } from '../../../store/duckdb/pool.ts';
import { Failure } from '../../../store/base/failure.ts';
import type { Page } from '../../../store/duckdb/protocol.ts';
import { PageLoads } from '../../../query/series/pageLoads.ts';
import type { SeriesPlan } from '../../../query/plan/seriesPlan.ts';

const KEYS = 600;
const keyOf = (at: number): string => `S${String(at).padStart(3, '0')}`;

/** Calls of a method of the pools while something runs. */
async function callsOf(method: 'body' | 'pages', work: () => Promise<unknown>): Promise<number> {
  const { [method]: original } = DuckDbPool.prototype;
  let calls = 0;
  Object.assign(DuckDbPool.prototype, {
    [method](this: DuckDbPool, ...parameters: readonly unknown[]): unknown {
      calls += 1;
      return Reflect.apply(original, this, parameters);
    },
  });
  await work().finally(() => Object.assign(DuckDbPool.prototype, { [method]: original }));
  return calls;
}

test('600 concurrent first reads are answered as each alone, by a few statements', async () => {
  await using server = await startServer({ seams: { watch: false } });
  const rows = Array.from({ length: KEYS }, (_, at) =>
    [3, 1, 2].map((day) => `${keyOf(at)},2024-01-0${day},${at + day / 4}`),
  );
  const csv = ['symbol,date,close', ...rows.flat(), ''].join('\n');
  await loaded(server, 'PRICES', csv, { key: 'symbol', date: 'date' });
  const paths = Array.from({ length: KEYS }, (_, at) => `/data/WS/PRICES/${keyOf(at)}?last=2`);
  const alone = new Map<string, string>();
  for (const path of [paths[0], paths[321], paths[599]]) {
    if (path !== undefined) alone.set(path, await read(server, `${path}&cache=false`));
  }
  let answers: readonly string[] = [];
  const statements = await callsOf('pages', async () => {
    answers = await Promise.all(paths.map((path) => read(server, path)));
  });
  answers.forEach((text, at) => {
    assert.equal(text, alone.get(paths[at] ?? '') ?? text);
    const [newest, second, ...more] = JSON.parse(text) as { symbol: string; close: number }[];
    assert.deepEqual([newest?.symbol, newest?.close], [keyOf(at), at + 0.75]);
    assert.deepEqual([second?.close, more.length], [at + 0.5, 0]);
  });
  // Requests arrive one after the other: a statement takes those that arrived while another one ran.
  assert.ok(statements <= KEYS / 4, `${statements} statements`);
  // The first read brought them into memory.
  const again = await callsOf('body', () => Promise.all(paths.map((path) => read(server, path))));
  assert.equal(again, 0);
});

test('concurrent reads of ranges are all answered too', async () => {
  await using server = await startServer({ seams: { watch: false } });
  const rows = Array.from({ length: 300 }, (_, at) => `${keyOf(at)},2024-01-01,${at}`);
  const csv = ['symbol,date,close', ...rows, ''].join('\n');
  await loaded(server, 'PRICES', csv, { key: 'symbol', date: 'date' });
  const answers = await Promise.all(
    rows.map((_, at) =>
      read(server, `/data/WS/PRICES/${keyOf(at)}?from=2024-01-01&to=2024-01-02&cache=false`),
    ),
  );
  answers.forEach((text, at) =>
    assert.equal((JSON.parse(text) as { close: number }[])[0]?.close, at),
  );
});

const column = { name: 'symbol', type: 'varchar' };
const planOf = (...values: readonly string[]): SeriesPlan =>
  ({
    equals: [{ column, values }],
    members: [{ kind: 'column', name: 'symbol', column: 'symbol' }],
    table: { tableId: 1, snapshot: 1, columns: [column] },
    takes: [],
  }) as unknown as SeriesPlan;

const pageOf = (text: string): Page => ({
  bytes: Buffer.from(text),
  ends: Uint32Array.of(text.length),
  dates: Float64Array.of(0),
});

const textOf = ({ bytes }: Page): string => Buffer.from(bytes).toString();

/** Answers each batch by its first spelling, and records the requests. */
function reader(fail: (keys: readonly string[]) => Failure | undefined = () => undefined) {
  const statements: (readonly string[])[] = [];
  const readPages = async (plan: SeriesPlan): Promise<readonly Page[]> => {
    const takes = plan.takes.length === 0 ? [plan.equals[0]?.values ?? []] : plan.takes;
    statements.push(takes.map(([key = '']) => key));
    await after(1);
    const failure = fail(takes.flat());
    if (failure !== undefined) throw failure;
    return takes.map(([key = '']) => pageOf(key));
  };
  return { statements, readPages };
}

test('waiting reads of one table become one statement, one for each account', async () => {
  const loads = new PageLoads();
  const { readPages, statements } = reader();
  const load = (account: string, key: string): Promise<Page> =>
    loads.load(account, planOf(key), 129, readPages);
  const keys = Array.from({ length: 50 }, (_, at) => `K${at}`);
  const pages = await Promise.all([...keys.map((key) => load('a', key)), load('b', 'K1')]);
  assert.deepEqual(pages.map(textOf), [...keys, 'K1']);
  assert.deepEqual(
    statements.map(({ length }) => length).toSorted((a, b) => a - b),
    [1, 1, 1, 48],
  );
});

test('keys that share a spelling are not of one statement', async () => {
  const loads = new PageLoads();
  const { readPages, statements } = reader();
  const plans = [['X'], ['Y'], ['A', 'a'], ['a', 'b'], ['c']].map((keys) => planOf(...keys));
  const pages = await Promise.all(plans.map((plan) => loads.load('a', plan, 129, readPages)));
  assert.deepEqual(pages.map(textOf), ['X', 'Y', 'A', 'a', 'c']);
  assert.ok(statements.every((keys) => !(keys.includes('A') && keys.includes('a'))));
});

test('a batch that needs too much memory is read in halves; a too large key fails alone', async () => {
  const loads = new PageLoads();
  const { readPages } = reader((keys) =>
    keys.includes('K7') ? new Failure('TooLarge', 'too large') : undefined,
  );
  const keys = Array.from({ length: 20 }, (_, at) => `K${at}`);
  const ends = await Promise.allSettled(
    keys.map((key) => loads.load('a', planOf(key), 129, readPages)),
  );
  assert.deepEqual(
    ends.flatMap(({ status }, at) => (status === 'rejected' ? [at] : [])),
    [7],
  );
});

test('a failure of the file is the failure of all who read it', async () => {
  const loads = new PageLoads();
  const { readPages, statements } = reader(() => new Failure('Damaged', 'a file is damaged'));
  const ends = await Promise.allSettled(
    ['A', 'B', 'C', 'D'].map((key) => loads.load('a', planOf(key), 129, readPages)),
  );
  assert.ok(ends.every(({ status }) => status === 'rejected'));
  assert.equal(statements.length, 3);
});

test('the number of waiting pages is limited', async () => {
  const loads = new PageLoads();
  const end = Promise.withResolvers<readonly Page[]>();
  const load = (key: string): Promise<Page> => loads.load('a', planOf(key), 129, () => end.promise);
  const waiting = Array.from({ length: 5_002 }, (_, at) => load(`K${at}`));
  await assert.rejects(load('ONE MORE'), { type: 'Busy' });
  end.resolve([]);
  assert.equal((await Promise.all(waiting)).length, 5_002);
});
