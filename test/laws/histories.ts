// Any history of pushes, loads, deletions, flushes, compactions and restarts answers as plain maps
// do: what is there, what changed since a version, what is new since a named query's last run.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compactDataset } from '../../jobs/compaction.ts';
import { loaded } from '../client.ts';
import { type Seeded, seeded } from '../crash/seeded.ts';
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

/** A request with the secret token that must succeed; its text. */
export async function ask(
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

export const read = async (server: TestServer, path: string): Promise<readonly Row[]> =>
  JSON.parse(await ask(server, 'GET', path)) as readonly Row[];

interface Model {
  readonly rows: Map<string, Row>;
  /** Index values that were written since the named query last ran. */
  readonly touched: Set<string>;
  /** Versions with what was there: all of it was in files then. */
  readonly memories: { readonly snapshot: number; readonly rows: ReadonlyMap<string, Row> }[];
  /** The named query ran before. */
  asked: boolean;
}

const newModel = (): Model => ({
  rows: new Map(),
  touched: new Set(),
  memories: [],
  asked: false,
});

/** Applies rows as the unique index has it: the first stays, or the last replaces. */
function apply({ rows: known, touched }: Model, rows: readonly Row[], replace: boolean): void {
  for (const row of rows) {
    const index = indexOf(row);
    if (!replace && known.has(index)) continue;
    known.set(index, row);
    touched.add(index);
  }
}

const newest = (rows: readonly Row[]): readonly Row[] =>
  rows.toSorted((a, b) =>
    a.date === b.date ? (a.symbol < b.symbol ? -1 : 1) : a.date < b.date ? 1 : -1,
  );

async function compare(server: TestServer, { rows: model }: Model, told: string): Promise<void> {
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
async function step(server: TestServer, model: Model, random: Seeded, at: number): Promise<string> {
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
    for (const [index, row] of model.rows) if (row.symbol === symbol) model.rows.delete(index);
    return `delete ${symbol}`;
  }
  if (dice === 8) {
    await flush(server);
    return 'flush';
  }
  const { lake, ingestion, runner } = server.tapedeck.services;
  const dataset = lake.catalogue.dataset('WS', 'D');
  assert.ok(dataset);
  let files = 0;
  await runner.inTurn('WS', 'D', async () => {
    files = await compactDataset(dataset, ingestion, 2);
  });
  return `compaction of ${files} files`;
}

/** Every turn of a dataset begins with its flush. */
const flush = ({ tapedeck }: TestServer): Promise<void> =>
  tapedeck.services.runner.inTurn('WS', 'D', async () => undefined);

/** The named query answers exactly what was written since its last run and is still there. */
async function compareQuery(server: TestServer, model: Model, told: string): Promise<void> {
  const answer = await read(server, '/data/WS/D?queryId=q1&limit=1000');
  const wanted = model.asked
    ? [...model.rows].filter(([index]) => model.touched.has(index)).map(([, row]) => row)
    : [...model.rows.values()];
  assert.deepEqual(answer, newest(wanted), `${told}: queryId`);
  model.asked = true;
  model.touched.clear();
}

async function remember(server: TestServer, model: Model): Promise<void> {
  await flush(server);
  const { snapshot } = server.tapedeck.services.lake;
  model.memories.push({ snapshot, rows: new Map(model.rows) });
}

interface Version {
  readonly snapshot: number;
  readonly inserted: readonly (readonly string[])[];
  readonly replaced: readonly (readonly string[])[];
  readonly deleted: readonly (readonly string[])[];
}

/** Old versions answer what they held, and the changes since lead from each to what is now. */
async function compareMemories(server: TestServer, model: Model, told: string): Promise<void> {
  await remember(server, model);
  for (const { snapshot, rows } of model.memories) {
    const then = await read(server, `/data/WS/D?limit=1000&asOf=${snapshot}`);
    assert.deepEqual(then, newest([...rows.values()]), `${told}: asOf ${snapshot}`);
    const index = new Set(rows.keys());
    const changes = await ask(server, 'GET', `/changes/WS/D?since=${snapshot}`);
    for (const version of JSON.parse(changes) as readonly Version[]) {
      const place = `${told}: since ${snapshot}, version ${version.snapshot}`;
      const name = (values: readonly string[]): string => values.join(' ');
      for (const one of version.inserted.map(name)) assert.ok(!index.has(one), `${place} +${one}`);
      const known = [...version.replaced, ...version.deleted].map(name);
      for (const one of known) assert.ok(index.has(one), `${place} ${one}`);
      for (const one of version.inserted.map(name)) index.add(one);
      for (const one of version.deleted.map(name)) index.delete(one);
    }
    assert.deepEqual(
      [...index].toSorted(),
      [...model.rows.keys()].toSorted(),
      `${told}: ${snapshot}`,
    );
  }
}

/** Plays one history; how many records it ends with. */
export async function historyLaw(steps: number, seed: number): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-history-'));
  const random = seeded(seed);
  const model = newModel();
  const first = { symbol: 'A', date: '2020-01-01', v: 0.5, note: 'x' };
  let server = await startServer({ folder });
  try {
    await loaded(server, 'D', JSON.stringify(first), { key: 'symbol', date: 'date' });
    apply(model, [first], false);
    for (let at = 1; at <= steps; at += 1) {
      const told = `seed ${seed}, step ${at}: ${await step(server, model, random, at)}`;
      await compare(server, model, told);
      if (random.chance(0.3)) await compareQuery(server, model, told);
      if (random.chance(0.15)) await remember(server, model);
      if (at % 10 !== 0) continue;
      await server.close();
      server = await startServer({ folder });
      await compare(server, model, `${told}, after a restart`);
    }
    await compareMemories(server, model, `seed ${seed}, at the end`);
    return model.rows.size;
  } finally {
    await server.close();
    await rm(folder, { recursive: true, force: true });
  }
}
