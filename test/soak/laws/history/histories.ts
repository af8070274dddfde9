// Any history of pushes, loads, deletions, purges, new properties, renames, flushes, compactions,
// thinning under a clock that jumps, and restarts gives the same answers as plain maps: current records, old
// versions, changes since a version, and records since a named query's last run.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compactDataset } from '../../../../jobs/upkeep/compaction.ts';
import { makeUpkeep } from '../../../../jobs/upkeep/upkeep.ts';
import { readSnapshots } from '../../../../store/lake/history/retention.ts';
import { loaded } from '../../../base/client.ts';
import { fileFaults } from '../../crash/aftermath.ts';
import { type Seeded, seeded } from '../../crash/rounds/seeded.ts';
import { startServer, type TestServer } from '../../../base/server.ts';
import {
  answered,
  apply,
  DAY_MS,
  goesOn,
  HOUR_MS,
  isLeft,
  KEEP,
  type Model,
  newModel,
  remember,
  type Row,
  rowOf,
  sentOf,
  SYMBOLS,
  take,
  thin,
} from './historyModel.ts';
import { compareForeign } from './historyReader.ts';

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** A request with the secret token. */
async function send(
  server: TestServer,
  method: string,
  path: string,
  body?: string,
): Promise<Answer> {
  const headers = { authorization: `Bearer ${server.secret}` };
  const init = body === undefined ? {} : { body };
  const answer = await fetch(`${server.base}/v1${path}`, { method, headers, ...init });
  return { status: answer.status, text: await answer.text() };
}

/** Sends a request that must succeed; returns its text. */
export async function ask(
  server: TestServer,
  method: string,
  path: string,
  body?: string,
): Promise<string> {
  const { status, text } = await send(server, method, path, body);
  assert.equal(status, 200, `${method} ${path}: ${text}`);
  return text;
}

export const read = async (server: TestServer, path: string): Promise<readonly Row[]> =>
  JSON.parse(await ask(server, 'GET', path)) as readonly Row[];

/** A server with its clock and the model of its expected state. */
interface Play {
  server: TestServer;
  readonly model: Model;
  readonly random: Seeded;
  readonly clock: { ms: number };
}

async function compare({ server, model }: Play, label: string): Promise<void> {
  const { added, name, rows } = model;
  const all = [...rows.values()];
  const whole = await read(server, `/data/WS/${name}?limit=1000`);
  assert.deepEqual(whole, answered(all, added), `${label}: all`);
  const symbol = SYMBOLS[all.length % SYMBOLS.length] ?? 'A';
  const mine = answered(
    all.filter((row) => row.symbol === symbol),
    added,
  );
  const last = await read(server, `/data/WS/${name}/${symbol}?last=3`);
  assert.deepEqual(last, mine.slice(0, 3), `${label}: a key`);
  const dated = all.filter(({ date }) => date >= '2020-01-02' && date <= '2020-01-03');
  const ranged = await read(server, `/data/WS/${name}?from=2020-01-02&to=2020-01-03`);
  assert.deepEqual(ranged, answered(dated, added), `${label}: a range`);
  const view = await ask(server, 'GET', `/datasets/WS/${name}`);
  const dataset = JSON.parse(view) as Record<string, number>;
  const keys = new Set(all.map((row) => row.symbol)).size;
  assert.deepEqual([dataset['records'], dataset['keys']], [all.length, keys], `${label}: counts`);
}

/** A step of a history; returns its description. Only a push leaves pending records. */
type Step = (play: Play, rows: readonly Row[], at: number) => Promise<string>;

const write =
  (kind: 'record' | 'data'): Step =>
  async ({ server, model, random }, rows) => {
    const replace = random.chance(0.5);
    const how = `duplicateKeyHandling=${replace ? 'replace' : 'ignore'}`;
    const body = rows.map((row) => JSON.stringify(sentOf(row)));
    const path = `/${kind}/WS/${model.name}?${how}`;
    if (kind === 'record') await ask(server, 'POST', path, `[${body.join(',')}]`);
    else await ask(server, 'POST', `${path}&wait=true`, body.join('\n'));
    apply(model, rows, replace);
    return `${kind} ${how} ${body.join(' ')}`;
  };

/** Path below a dataset: all of a symbol, or its record of a day. */
const pathOf = ({ symbol, date }: Row, random: Seeded): readonly [string, string | undefined] =>
  random.chance(0.5) ? [symbol, undefined] : [`${symbol}?from=${date}&to=${date}`, date];

const remove: Step = async ({ server, model, random }, [row]) => {
  assert.ok(row);
  const [path, date] = pathOf(row, random);
  await ask(server, 'DELETE', `/data/WS/${model.name}/${path}`);
  take(model, row.symbol, date);
  return `delete ${path}`;
};

const purge: Step = async ({ server, model, random }, [row]) => {
  assert.ok(row);
  const [path, date] = pathOf(row, random);
  const mark = path.includes('?') ? '&' : '?';
  const text = await ask(server, 'DELETE', `/data/WS/${model.name}/${path}${mark}purge=true`);
  const records = Number(/purged (\d+) records/.exec(text)?.[1]);
  const isGone = (one: Row): boolean =>
    one.symbol === row.symbol && (date === undefined || one.date === date);
  const had = model.memories.some(
    ({ rows, snapshot }) => isLeft(model, snapshot) && [...rows.values()].some(isGone),
  );
  const now = take(model, row.symbol, date);
  assert.ok(records >= now && (records > 0 || !had), `${path}: ${text}, ${now} there, ${had}`);
  if (records > 0) model.floor = server.tapedeck.services.lake.snapshot;
  return `purge ${path}: ${records}`;
};

/** Every turn of a dataset begins with its flush. */
const flush: Step = async ({ server, model }) => {
  await server.tapedeck.services.runner.inTurn('WS', model.name, async () => undefined);
  return 'flush';
};

const compact: Step = async ({ server, model }) => {
  const { lake, ingestion, runner } = server.tapedeck.services;
  const dataset = lake.directory.dataset('WS', model.name);
  assert.ok(dataset);
  let files = 0;
  await runner.inTurn('WS', model.name, async () => {
    files = await compactDataset(dataset, ingestion, 2);
  });
  return `compaction of ${files} files`;
};

const rename: Step = async ({ server, model }, _rows, at) => {
  const name = `D${at}`;
  await ask(server, 'PUT', `/datasets/WS/${model.name}/${name}`);
  const summary = `${model.name} renamed to ${name}`;
  model.name = name;
  return summary;
};

const addProperty: Step = async ({ server, model }, _rows, at) => {
  const name = `p${at}`;
  const properties = { [name]: { type: 'string' } };
  const body = JSON.stringify({ schema: { properties } });
  await ask(server, 'PATCH', `/datasets/WS/${model.name}`, body);
  model.added = [...model.added, name];
  return `property ${name}`;
};

const keep: Step = async ({ server, model, random }) => {
  model.historyDays = random.pick([null, 0, 1, 10, 50]);
  const body = JSON.stringify({ historyDays: model.historyDays });
  await ask(server, 'PATCH', `/datasets/WS/${model.name}`, body);
  return `historyDays ${model.historyDays}`;
};

/** Advances the clock; versions expire, and their files with them. */
const age: Step = async ({ server, model, random, clock }) => {
  clock.ms += random.pick([HOUR_MS / 3, 5 * HOUR_MS, 2 * DAY_MS, 40 * DAY_MS, 150 * DAY_MS]);
  const { services } = server.tapedeck;
  await observe(server, model);
  const upkeep = makeUpkeep({ ...services, keep: KEEP });
  await upkeep.expireVersions();
  await upkeep.expireVersions();
  thin(model, clock.ms);
  const left = (await readSnapshots(services.database)).map(({ snapshot }) => snapshot);
  const expected = model.versions.map(({ snapshot }) => snapshot);
  assert.deepEqual(left, expected, `versions left at ${clock.ms}`);
  const old = services.database
    .selectFrom('push_log')
    .select('log_id')
    .where('flushed_ms', '<', clock.ms - KEEP.allMs);
  assert.deepEqual(await old.execute(), [], `pushes of versions that were thinned at ${clock.ms}`);
  return `thinned at ${new Date(clock.ms).toISOString()}`;
};

/** Weight of each step, out of 40. */
const STEPS: readonly (readonly [Step, number])[] = [
  [write('record'), 15],
  [write('data'), 5],
  [remove, 3],
  [purge, 2],
  [flush, 2],
  [compact, 4],
  [rename, 1],
  [addProperty, 2],
  [keep, 1],
  [age, 5],
];

const DICE: readonly Step[] = STEPS.flatMap(([step, times]) => Array<Step>(times).fill(step));

async function takeStep(play: Play, at: number): Promise<string> {
  const { server, model, random, clock } = play;
  clock.ms += random.between(1, 600_000);
  const count = random.between(1, 3);
  const rows = Array.from({ length: count }, (_, n) => rowOf(random, at * 10 + n, model.added));
  const step = DICE[random.between(0, DICE.length - 1)] ?? flush;
  const summary = await step(play, rows, at);
  await observe(server, model);
  const { lake, pending } = server.tapedeck.services;
  const tableId = lake.directory.dataset('WS', model.name)?.tableId ?? -1;
  const isRemembered = model.memories.some(({ snapshot }) => snapshot === lake.snapshot);
  if (pending.pendingRows(tableId).length === 0 && !isRemembered) remember(model, lake.snapshot);
  return summary;
}

/** Adds the versions since the last call to the model. */
async function observe(server: TestServer, model: Model): Promise<void> {
  const newest = model.versions.at(-1)?.snapshot ?? -1;
  const all = await readSnapshots(server.tapedeck.services.database);
  const fresh = all.filter(({ snapshot }) => snapshot > newest);
  const versions = fresh.map(({ snapshot, timeMs }) => ({ snapshot, ms: timeMs }));
  model.versions = [...model.versions, ...versions];
}

/** The named query returns exactly the records written since its last run that still exist. */
async function compareQuery(play: Play, label: string): Promise<void> {
  const { server, model, clock } = play;
  const { added, name, rows, touched } = model;
  const on = goesOn(model, clock.ms);
  const answer = await read(server, `/data/WS/${name}?queryId=q1&limit=1000`);
  const expectedRows = [...rows]
    .filter(([index]) => !on || touched.has(index))
    .map(([, row]) => row);
  assert.deepEqual(answer, answered(expectedRows, added), `${label}: queryId, goes on: ${on}`);
  model.query = { snapshot: server.tapedeck.services.lake.snapshot, ms: clock.ms };
  touched.clear();
}

interface Version {
  readonly snapshot: number;
  readonly inserted: readonly (readonly string[])[];
  readonly replaced: readonly (readonly string[])[];
  readonly deleted: readonly (readonly string[])[];
}

/**
 * Existing versions return their records, and the changes since lead from each to the current state;
 * expired ones answer 410.
 */
async function compareMemories(play: Play, label: string): Promise<void> {
  const { server, model } = play;
  await flush(play, [], 0);
  await observe(server, model);
  remember(model, server.tapedeck.services.lake.snapshot);
  for (const { snapshot, rows, added } of model.memories) {
    const place = `${label}: version ${snapshot}`;
    const then = await send(server, 'GET', `/data/WS/${model.name}?limit=1000&asOf=${snapshot}`);
    const changes = await send(server, 'GET', `/changes/WS/${model.name}?since=${snapshot}`);
    if (!isLeft(model, snapshot)) {
      assert.deepEqual([then.status, changes.status], [410, 410], `${place} has ended`);
      continue;
    }
    assert.deepEqual([then.status, changes.status], [200, 200], `${place}: ${changes.text}`);
    assert.deepEqual(JSON.parse(then.text), answered([...rows.values()], added), place);
    followChanges(new Set(rows.keys()), changes.text, model, place);
  }
  await compareTimes(play, label);
}

function followChanges(index: Set<string>, changes: string, model: Model, label: string): void {
  for (const version of JSON.parse(changes) as readonly Version[]) {
    const place = `${label}: version ${version.snapshot} since then`;
    const name = (values: readonly string[]): string => values.join(' ');
    for (const one of version.inserted.map(name)) assert.ok(!index.has(one), `${place} +${one}`);
    const changedIndexes = [...version.replaced, ...version.deleted].map(name);
    for (const one of changedIndexes) assert.ok(index.has(one), `${place} ${one}`);
    for (const one of version.inserted.map(name)) index.add(one);
    for (const one of version.deleted.map(name)) index.delete(one);
  }
  assert.deepEqual([...index].toSorted(), [...model.rows.keys()].toSorted(), label);
}

/** `asOf` a version's time is that version; test/soak/laws/history/moments.ts tests pushes in between. */
async function compareTimes({ clock, server, model, random }: Play, label: string): Promise<void> {
  for (let look = 0; look < 5; look += 1) {
    const version = model.versions[random.between(0, model.versions.length - 1)];
    // The current time or later means all records: commits at one time of the clock are a millisecond apart.
    if (version === undefined || version.ms >= clock.ms) continue;
    const { ms, snapshot: snapshotId } = version;
    const memory = model.memories.find(({ snapshot }) => snapshot === snapshotId);
    const path = `/data/WS/${model.name}?limit=1000&asOf=${ms}`;
    const { status, text } = await send(server, 'GET', path);
    if (snapshotId < model.floor) assert.equal(status, 410, `${label}: asOf ${ms}: ${text}`);
    else if (memory !== undefined) {
      const expected = answered([...memory.rows.values()], memory.added);
      assert.deepEqual(JSON.parse(text), expected, `${label}: asOf ${ms}`);
    }
  }
}

const BEGIN_MS = Date.UTC(2026, 0, 1);

/** Plays one history; returns how many records it ends with. */
export async function historyLaw(steps: number, seed: number): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-history-'));
  const random = seeded(seed);
  const model = newModel();
  const clock = { ms: BEGIN_MS };
  const start = (): Promise<TestServer> =>
    startServer({ folder, seams: { clock: () => clock.ms, watch: false } });
  const first = { symbol: 'A', date: '2020-01-01', v: 0.5, note: 'x', more: {} };
  const play: Play = { server: await start(), model, random, clock };
  try {
    await loaded(play.server, 'D', JSON.stringify(sentOf(first)), { key: 'symbol', date: 'date' });
    apply(model, [first], false);
    for (let at = 1; at <= steps; at += 1) {
      const label = `seed ${seed}, step ${at}: ${await takeStep(play, at)}`;
      await compare(play, label);
      if (random.chance(0.3)) await compareQuery(play, label);
      if (at % 10 !== 0) continue;
      await compareMemories(play, label);
      await play.server.close();
      play.server = await start();
      await compare(play, `${label}, after a restart`);
    }
    const label = `seed ${seed}, at the end`;
    await compareMemories(play, label);
    await compareForeign(folder, model, label);
    await age(play, [], 0);
    assert.deepEqual(await fileFaults(folder), [], label);
    return model.rows.size;
  } finally {
    await play.server.close();
    await rm(folder, { recursive: true, force: true });
  }
}
