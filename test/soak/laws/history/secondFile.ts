// Any sequence of files, pushes and pulls into one dataset: the counts of each answer add up, and the stored
// rows are those of a plain model. Without a declared index nothing is replaced, and only two things are
// skipped: rows that one source delivered before, equal in full, and a file whose bytes were loaded before.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load, send } from '../../../base/client.ts';
import { startServer, type TestServer } from '../../../base/server.ts';
import { type Seeded, seeded } from '../../crash/rounds/seeded.ts';

interface Row {
  readonly k: string;
  readonly d: string;
  readonly v: number;
}

interface Counts {
  readonly received: number;
  readonly stored: number;
  readonly replaced: number | null;
  readonly duplicates: number;
  readonly rejected: number;
  readonly quarantined: number;
}

const INDEX = { key: 'k', date: 'd' };
const SOURCES = 2;

/** Expected state of a dataset. */
interface Model {
  readonly isDeclared: boolean;
  /** Text of a row -> how often it is stored. */
  readonly stored: Map<string, number>;
  /** Files whose bytes were loaded. */
  readonly files: Set<string>;
  /** By source: the highest count of each row in one of its files. */
  readonly sources: readonly Map<string, number>[];
}

const keyText = ({ d, k }: Row): string => `${k} ${d}`;

function add(model: Model, row: Row, times = 1): void {
  const text = JSON.stringify(row);
  if (!model.isDeclared) {
    model.stored.set(text, (model.stored.get(text) ?? 0) + times);
    return;
  }
  for (const storedText of model.stored.keys()) {
    if (keyText(JSON.parse(storedText) as Row) === keyText(row)) model.stored.delete(storedText);
  }
  model.stored.set(text, 1);
}

function addPull(model: Model, at: number, rows: readonly Row[]): void {
  if (model.isDeclared) {
    for (const row of rows) add(model, row);
    return;
  }
  const brought = model.sources[at] ?? new Map<string, number>();
  const counts = new Map<string, number>();
  for (const row of rows) {
    const text = JSON.stringify(row);
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  for (const [text, count] of counts) {
    const more = count - (brought.get(text) ?? 0);
    if (more <= 0) continue;
    add(model, JSON.parse(text) as Row, more);
    brought.set(text, count);
  }
}

const rowFrom = (random: Seeded, mayBlank: boolean): Row => ({
  k: mayBlank && random.chance(0.1) ? '' : random.pick(['A', 'B', 'C']),
  d: mayBlank && random.chance(0.1) ? '' : `2024-01-0${random.between(1, 4)}`,
  v: random.between(0, 3) + 0.5,
});

const csvOf = (rows: readonly Row[]): string =>
  ['k,d,v', ...rows.map(({ d, k, v }) => `${k},${d},${v}`), ''].join('\n');

/** The next state of a source's file: it grows, rolls, is corrected, repeats rows, or is unchanged. */
function nextFile(random: Seeded, rows: readonly Row[], mayBlank: boolean): readonly Row[] {
  const fresh = Array.from({ length: random.between(0, 3) }, () => rowFrom(random, mayBlank));
  const how = random.pick(['grow', 'roll', 'correct', 'repeat', 'same']);
  if (how === 'grow') return [...rows, ...fresh];
  if (how === 'roll') return [...rows.slice(random.between(0, 2)), ...fresh];
  if (how === 'correct')
    return rows.map((row) => (random.chance(0.3) ? { ...row, v: row.v + 1 } : row));
  if (how === 'repeat') return [...rows, ...rows.slice(0, random.between(0, 2))];
  return rows;
}

interface Play {
  readonly server: TestServer;
  readonly dataset: string;
  readonly random: Seeded;
  readonly model: Model;
  readonly folder: string;
  readonly files: (readonly Row[])[];
  readonly sourceIds: (string | undefined)[];
}

function checkCounts(
  { duplicates, received, rejected, stored, ...rest }: Counts,
  what: string,
): void {
  const sum = stored + (rest.replaced ?? 0) + duplicates + rejected + rest.quarantined;
  assert.equal(
    sum,
    received,
    `${what}: ${JSON.stringify({ duplicates, received, rejected, stored, ...rest })}`,
  );
}

async function playLoad(play: Play): Promise<void> {
  const { dataset, model, random, server } = play;
  const rows = Array.from({ length: random.between(1, 6) }, () =>
    rowFrom(random, !model.isDeclared),
  );
  const body = csvOf(rows);
  const first = model.isDeclared && model.files.size === 0 ? INDEX : {};
  const bodies = random.chance(0.3) ? [body, body] : [body];
  for (const one of bodies) {
    const answer = await load(server, dataset, one, first);
    const text = await answer.text();
    assert.equal(answer.status, 200, text);
    const counts = JSON.parse(text) as Counts;
    checkCounts(counts, 'load');
    assert.equal(counts.received, rows.length);
    const isKnown = !model.isDeclared && model.files.has(one);
    model.files.add(one);
    if (isKnown) assert.equal(counts.stored, 0);
    else for (const row of rows) add(model, row);
  }
}

async function playPush({ dataset, model, random, server }: Play): Promise<void> {
  const rows = Array.from({ length: random.between(1, 4) }, () =>
    rowFrom(random, !model.isDeclared),
  );
  const records = rows.map(({ d, k, v }) => ({
    ...(k === '' ? {} : { k }),
    ...(d === '' ? {} : { d }),
    v,
  }));
  const body = random.chance(0.5) && records.length === 1 ? records[0] : records;
  const { status, text } = await send(server, 'POST', `/record/WS/${dataset}`, body ?? records);
  assert.equal(status, 200, text);
  const counts = JSON.parse(text) as Counts;
  checkCounts(counts, 'push');
  assert.equal(counts.received, rows.length);
  for (const row of rows) add(model, row);
}

async function playPull(play: Play): Promise<void> {
  const { dataset, files, folder, model, random, server, sourceIds } = play;
  const at = random.between(0, SOURCES - 1);
  files[at] = nextFile(random, files[at] ?? [], !model.isDeclared);
  const rows = files[at];
  if (rows.length === 0) return;
  const path = `${dataset}-${at}.csv`;
  await writeFile(join(folder, path), csvOf(rows));
  sourceIds[at] ??= await addSource(server, `${dataset}${at}`, path);
  const answer = await send(server, 'POST', '/jobs/WS/ingest?wait=true', {
    dataSourceId: sourceIds[at],
    datasetId: dataset,
  });
  assert.equal(answer.status, 200, answer.text);
  const counts = JSON.parse(answer.text) as Counts;
  checkCounts(counts, 'pull');
  addPull(model, at, rows);
}

async function addSource(server: TestServer, name: string, path: string): Promise<string> {
  const body = { name, type: 'FILE', path };
  const { status, text } = await send(server, 'POST', '/data-sources/WS', body);
  assert.equal(status, 200, text);
  const { dataSourceId } = JSON.parse(text) as { readonly dataSourceId: string };
  return dataSourceId;
}

async function storedRows({ dataset, server }: Play): Promise<readonly string[]> {
  const query = encodeURIComponent(`SELECT k, d, v FROM ${dataset}`);
  const { status, text } = await send(server, 'GET', `/sql-query/WS?sqlQuery=${query}`);
  assert.equal(status, 200, text);
  const rows = JSON.parse(text) as readonly { k: string | null; d: string | null; v: number }[];
  return rows.map(({ d, k, v }) => JSON.stringify({ k: k ?? '', d: d ?? '', v })).toSorted();
}

async function playSequence(
  server: TestServer,
  folder: string,
  seed: number,
  at: number,
): Promise<number> {
  const random = seeded(seed);
  const isDeclared = random.chance(0.4);
  const model: Model = {
    isDeclared,
    stored: new Map(),
    files: new Set(),
    sources: Array.from({ length: SOURCES }, () => new Map<string, number>()),
  };
  const dataset = `D${at}`;
  const files: (readonly Row[])[] = [];
  const sourceIds: (string | undefined)[] = [];
  const play: Play = { server, dataset, random, model, folder, files, sourceIds };
  // The file that creates the dataset has a value of each type.
  const first = [{ k: 'A', d: '2024-01-01', v: 0.5 }];
  const created = await load(server, dataset, csvOf(first), isDeclared ? INDEX : {});
  assert.equal(created.status, 200, await created.text());
  model.files.add(csvOf(first));
  for (const row of first) add(model, row);
  const steps = random.between(3, 8);
  for (let step = 0; step < steps; step += 1) {
    const kind = random.pick(['load', 'push', 'pull', 'pull']);
    if (kind === 'load') await playLoad(play);
    else if (kind === 'push') await playPush(play);
    else await playPull(play);
    const expectedRows = [...model.stored].flatMap(([text, count]) =>
      Array<string>(count).fill(text),
    );
    assert.deepEqual(
      await storedRows(play),
      expectedRows.toSorted(),
      `seed ${seed}, step ${step}: ${kind}`,
    );
  }
  return steps;
}

/** Plays `count` sequences; returns how many steps they had. */
export async function secondFileLaw(count: number, seed: number): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-second-'));
  try {
    await using server = await startServer({ settings: { TAPEDECK_SOURCE_FOLDER: folder } });
    let steps = 0;
    for (let at = 0; at < count; at += 1) {
      steps += await playSequence(server, folder, seed + at, at);
    }
    return steps;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
