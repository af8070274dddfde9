// A real server gives the same answers as the oracle: random datasets at awkward moments, each request
// from the files and three times from memory, and the price in the header.
import assert from 'node:assert/strict';
import { type Seeded, seeded } from '../../crash/rounds/seeded.ts';
import { startServer, type TestServer } from '../../../base/server.ts';
import { pickRequest, indexOf, MOMENTS, SHELVES, valuesOf, ZONE } from './seriesCases.ts';
import { wallDay } from './seriesDays.ts';
import {
  type SeriesRequest,
  expected,
  type StoredRecord,
  type Kind,
  type Shelf,
  type Values,
} from './seriesOracle.ts';

/** Requests to one server, at one moment. */
const REQUESTS_A_WORLD = 50;
/** Row limit of the tier of tests. */
const ROWS_MAX = 1_000;

interface World {
  readonly server: TestServer;
  readonly random: Seeded;
  readonly now: string;
  readonly setClock: (iso: string) => void;
  readonly recordsByShelf: ReadonlyMap<Shelf, Map<string, StoredRecord>>;
}

interface SeriesReport {
  readonly failures: readonly string[];
  readonly requests: number;
  readonly refused: number;
  readonly rows: number;
  readonly fromMemory: number;
}

/** The server starts this long before the moment; nothing is written earlier. */
const BEGUN_BEFORE_MS = 30 * 86_400_000;

export async function seriesRequestsLaw(requests: number, seed: number): Promise<SeriesReport> {
  const random = seeded(seed);
  const total = { failures: [] as string[], requests: 0, refused: 0, rows: 0, fromMemory: 0 };
  while (total.requests < requests) {
    const now = random.pick(MOMENTS);
    let clock = Date.parse(now) - BEGUN_BEFORE_MS;
    await using server = await startServer({ seams: { clock: () => clock, watch: false } });
    const recordsByShelf = new Map(
      SHELVES.map((shelf) => [shelf, new Map<string, StoredRecord>()]),
    );
    const setClock = (iso: string): void => void (clock = Date.parse(iso));
    const world = { server, random: random.fork(), now, setClock, recordsByShelf };
    await fill(world);
    const count = Math.min(REQUESTS_A_WORLD, requests - total.requests);
    for (let at = 0; at < count; at += 1) {
      // Pushed records are pending for the first half of the requests, and in files for the second.
      if (at === Math.floor(count / 2)) await flush(world);
      const outcome = await askOne(world);
      total.requests += 1;
      total.rows += outcome.rows ?? 0;
      if (outcome.rows === undefined) total.refused += 1;
      if (outcome.failure !== undefined)
        total.failures.push(`${now} request ${at}: ${outcome.failure}`);
    }
    total.fromMemory += server.tapedeck.services.series.cache.state().hits;
  }
  return total;
}

/** Writes two loads at different times, then some pushes, each a second after the one before. */
async function fill(world: World): Promise<void> {
  const { random, server, now, setClock } = world;
  const nowMs = Date.parse(now);
  let ms = nowMs - random.pick([3_600_000, 5 * 86_400_000]);
  const next = (): string => {
    ms += 1_000;
    const time = new Date(ms).toISOString();
    setClock(time);
    return time;
  };
  next();
  for (const shelf of SHELVES) await create(server, shelf);
  for (const shelf of SHELVES) await write(world, shelf, next(), 'load', random.between(30, 90));
  ms = nowMs - 60_000;
  for (const shelf of SHELVES) await write(world, shelf, next(), 'load', random.between(1, 30));
  for (const shelf of SHELVES) await write(world, shelf, next(), 'push', random.between(0, 12));
  setClock(now);
}

const TYPES: Readonly<Record<Kind, object>> = {
  text: { type: 'string' },
  number: { type: 'number' },
  integer: { type: 'integer' },
  boolean: { type: 'boolean' },
  date: { type: 'string', format: 'date' },
  time: { type: 'string', format: 'date-time' },
};

async function create(server: TestServer, shelf: Shelf): Promise<void> {
  const { id, weight, key, subkey, date } = shelf;
  const types = Object.entries(shelf.properties).map(([name, kind]) => [name, TYPES[kind]]);
  const schema = { type: 'object', properties: Object.fromEntries(types) };
  const columnMapping = { key, subkey, date };
  await post(server, '/datasets/WS', { dataset: { datasetId: id, weight, schema, columnMapping } });
}

async function post(server: TestServer, path: string, body: object): Promise<void> {
  const headers = { authorization: `Bearer ${server.secret}` };
  const init = { method: 'POST', headers, body: JSON.stringify(body) };
  const answer = await fetch(`${server.base}/v1${path}`, init);
  assert.equal(answer.status, 200, `${path}: ${await answer.text()}`);
}

async function write(
  { recordsByShelf, random, server }: World,
  shelf: Shelf,
  now: string,
  how: 'load' | 'push',
  count: number,
): Promise<void> {
  const today = wallDay(Date.parse(now), ZONE);
  const valueSets = Array.from({ length: count }, () => valuesOf(random, shelf, today));
  const rows = new Map(valueSets.map((values) => [indexOf(shelf, values), values]));
  if (rows.size === 0) return;
  const replace = random.chance(0.6);
  const handling = `duplicateKeyHandling=${replace ? 'replace' : 'ignore'}`;
  const path = how === 'load' ? `/data/WS/${shelf.id}?wait=true&` : `/record/WS/${shelf.id}?`;
  await post(server, `${path}${handling}`, [...rows.values()]);
  const shelfRecords = recordsByShelf.get(shelf);
  for (const [index, values] of rows) {
    if (replace || shelfRecords?.has(index) === false)
      shelfRecords?.set(index, heldOf(values, now));
  }
}

const heldOf = (values: Values, _updated: string): StoredRecord => ({ ...values, _updated });

async function flush({ server }: World): Promise<void> {
  for (const { id } of SHELVES) {
    await server.tapedeck.services.runner.inTurn('WS', id, async () => undefined);
  }
}

interface RequestOutcome {
  /** Undefined: refused. */
  readonly rows: number | undefined;
  readonly failure: string | undefined;
}

async function askOne({ recordsByShelf, now, random, server }: World): Promise<RequestOutcome> {
  const shelf = random.pick(SHELVES);
  const records = [...(recordsByShelf.get(shelf)?.values() ?? [])];
  const request = pickRequest(random, shelf, records, now);
  const moment = { today: wallDay(Date.parse(now), ZONE), zone: ZONE, rowsMax: ROWS_MAX };
  const rows = expected(shelf, records, request, moment);
  const url = urlOf(server, shelf, request);
  const path = decodeURIComponent(url.slice(server.base.length).replace(/&?token=\w+/, ''));
  for (const cache of ['false', 'true', 'true', 'true']) {
    const answer = await fetch(`${url}&cache=${cache}`);
    const text = await answer.text();
    const used = answer.headers.get('svccloud-messages-used');
    const expectedResult = rows === undefined ? '400' : `200 ${rows.length * shelf.weight}`;
    const got = answer.status === 400 ? '400' : `${answer.status} ${used}`;
    const want = rows === undefined ? '' : JSON.stringify(rows);
    const have = answer.status === 200 ? JSON.stringify(JSON.parse(text)) : '';
    if (got === expectedResult && have === want) continue;
    const failure = `${path} cache=${cache}: ${got}, not ${expectedResult}\n${text}\nnot ${want}`;
    return { rows: rows?.length, failure };
  }
  return { rows: rows?.length, failure: undefined };
}

function urlOf(
  server: TestServer,
  shelf: Shelf,
  { door, keys, query, subkey }: SeriesRequest,
): string {
  const place = door === 'data' ? `data/WS/${shelf.id}` : `time-series/${shelf.id}`;
  const parts = [keys, subkey].flatMap((part) => (part === undefined ? [] : [`/${part}`]));
  const all = new URLSearchParams({ ...query, token: server.publishable });
  return `${server.base}/v1/${place}${parts.join('')}?${all}`;
}
