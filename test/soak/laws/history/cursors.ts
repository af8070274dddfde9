// A named query returns each acknowledged record exactly once, and each of its changes once, while several
// writers push, loads, flushes, compactions and restarts run, and callers disconnect.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compactDataset } from '../../../../jobs/upkeep/compaction.ts';
import { loaded } from '../../../base/client.ts';
import { type Seeded, seeded } from '../../crash/rounds/seeded.ts';
import { startServer, type TestServer } from '../../../base/server.ts';
import { ask, read } from './histories.ts';

const WRITERS = 4;
const PATH = '/data/WS/D?queryId=q1&limit=100000';

/** A record of a writer, with a unique value. */
interface Row {
  readonly symbol: string;
  readonly date: string;
  readonly v: number;
}

interface Play {
  server: TestServer;
  readonly folder: string;
  readonly random: Seeded;
  /** All acknowledged records. */
  readonly written: Row[];
  /** All returned records, in their order. */
  readonly answeredRows: Row[];
  value: number;
}

const dayOf = (at: number): string =>
  new Date(Date.UTC(2020, 0, 1) + at * 86_400_000).toISOString().slice(0, 10);

/** Each writer has its own symbol: its last write is the stored state. */
async function write(play: Play, writer: number, random: Seeded): Promise<void> {
  for (let at = 0; at < 8; at += 1) {
    const rows = Array.from({ length: random.between(1, 3) }, (_, nth) => ({
      symbol: `W${writer}`,
      date: dayOf(random.chance(0.5) ? nth : (play.value += 1)),
      v: (play.value += 1),
    }));
    const path = random.chance(0.1)
      ? '/data/WS/D?wait=true&duplicateKeyHandling=replace'
      : '/record/WS/D?duplicateKeyHandling=replace';
    const last = new Map(rows.map((row) => [row.date, row]));
    await ask(play.server, 'POST', path, JSON.stringify([...last.values()]));
    play.written.push(...last.values());
  }
}

async function readQuery(play: Play): Promise<void> {
  play.answeredRows.push(...((await read(play.server, PATH)) as unknown as readonly Row[]));
}

/** Sends a request and disconnects before the answer: the next caller gets its records. */
async function leave({ server }: Play): Promise<void> {
  const { hostname, port } = new URL(server.base);
  const lines = [`GET /v1${PATH} HTTP/1.1`, 'host: x', `authorization: Bearer ${server.secret}`];
  await new Promise<void>((resolve) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(`${lines.join('\r\n')}\r\n\r\n`, () => socket.resetAndDestroy());
    });
    socket.on('error', () => undefined).on('close', () => resolve());
  });
}

async function happen(play: Play): Promise<void> {
  const { random, server } = play;
  const { ingestion, lake, runner } = server.tapedeck.services;
  const kind = random.between(0, 9);
  if (kind < 5) return readQuery(play);
  if (kind === 5) return leave(play);
  const dataset = lake.directory.dataset('WS', 'D');
  assert.ok(dataset);
  await runner.inTurn('WS', 'D', async () => {
    if (kind === 9) await compactDataset(dataset, ingestion, 2);
  });
}

/** Plays one history; returns how many records the query returned. */
export async function cursorsLaw(rounds: number, seed: number): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-cursors-'));
  const open = (): Promise<TestServer> => startServer({ folder, seams: { watch: false } });
  const random = seeded(seed);
  const play: Play = {
    server: await open(),
    folder,
    random,
    written: [],
    answeredRows: [],
    value: 0,
  };
  try {
    const first = { symbol: 'A', date: '2020-01-01', v: 0 };
    await loaded(play.server, 'D', JSON.stringify(first), { key: 'symbol', date: 'date' });
    play.written.push(first);
    for (let round = 0; round < rounds; round += 1) {
      const writers = Array.from({ length: WRITERS }, (_, at) => write(play, at, random.fork()));
      let over = false;
      const all = Promise.all(writers).finally(() => (over = true));
      while (!over) await happen(play);
      await all;
      await readQuery(play);
      check(play, `seed ${seed}, round ${round}`);
      if (!random.chance(0.5)) continue;
      await play.server.close();
      play.server = await open();
    }
    return play.answeredRows.length;
  } finally {
    await play.server.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Changes between two answers are returned as the last of them, for each index value in order. */
function check({ answeredRows, written }: Play, place: string): void {
  const values = answeredRows.map(({ v }) => v);
  const twice = values.filter((value, at) => values.indexOf(value) !== at);
  assert.deepEqual(twice, [], `${place}: returned twice, of ${values.length}`);
  const writtenRows = new Map(written.map((row) => [row.v, row]));
  for (const { date, symbol, v } of answeredRows) {
    assert.deepEqual({ symbol, date, v }, writtenRows.get(v), `${place}: never written`);
  }
  const last = (rows: readonly Row[]): ReadonlyMap<string, number> =>
    new Map(rows.map(({ date, symbol, v }) => [`${symbol} ${date}`, v]));
  const byIndex = (map: ReadonlyMap<string, number>): unknown => [...map].toSorted();
  assert.deepEqual(
    byIndex(last(answeredRows)),
    byIndex(last(written)),
    `${place}: the last of each`,
  );
}
