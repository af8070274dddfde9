// Cache on = cache off, byte for byte, under random interleavings of writes and reads; a read after an
// acknowledged push includes it, under any concurrent work.
import assert from 'node:assert/strict';
import { compactDataset } from '../../../jobs/upkeep/compaction.ts';
import { type Seeded, seeded } from '../crash/rounds/seeded.ts';
import { startServer, type TestServer } from '../../base/server.ts';

type DatasetId = 'DAYS' | 'TICKS' | 'KINDS';

const DATASETS: readonly [Dataset, ...Dataset[]] = [
  { id: 'DAYS', index: 'key=symbol&date=date' },
  { id: 'TICKS', index: 'key=symbol&date=time' },
  { id: 'KINDS', index: 'key=symbol&subkey=kind&date=date' },
];

interface Dataset {
  readonly id: DatasetId;
  /** Parts of the unique index, as a load's parameters. */
  readonly index: string;
}

/** The last two have opposite orders by UTF-16 units and by bytes. */
const KEYS: readonly [string, ...string[]] = [
  'AAPL',
  'MSFT',
  'BRK.B',
  'lower',
  '\uff61',
  '\u{1f600}',
];
const KINDS: readonly [string, ...string[]] = ['x', 'y', 'Z'];
const DAYS = 40;

/** Plays `steps` random steps; returns how many reads memory answered. */
export async function memoryLaw(steps: number, seed: number): Promise<string> {
  // Little memory, so that series are evicted as well.
  const settings = { TAPEDECK_CACHE_BYTES: '60000' };
  await using server = await startServer({ settings, seams: { watch: false } });
  const random = seeded(seed);
  for (const { id } of DATASETS) await load(server, random, id);
  for (let step = 0; step < steps; step += 1) {
    const kind = random.between(0, 19);
    if (kind < 12) await compare(server, random, step);
    else if (kind < 16) await pushAndRead(server, random);
    else if (kind === 16) await load(server, random, random.pick(DATASETS).id);
    else if (kind === 17) await flush(server, random.pick(DATASETS).id);
    else if (kind === 18) await compact(server, random.pick(DATASETS).id);
    else await remove(server, random);
  }
  const { hits, misses } = server.tapedeck.services.series.cache.state();
  assert.ok(hits > misses / 10, `memory answered ${hits} of ${hits + misses} reads`);
  return `${hits} of ${hits + misses} reads from memory`;
}

const dayOf = (random: Seeded): string =>
  new Date(Date.UTC(2024, 0, 1 + random.between(0, DAYS))).toISOString().slice(0, 10);

/** Times at hours that are on the same day in New York. */
const timeOf = (random: Seeded): string =>
  `${dayOf(random)}T1${random.between(0, 9)}:30:00.${random.pick<string>(['000', '250'])}Z`;

function recordOf(
  random: Seeded,
  id: DatasetId,
  keys: typeof KEYS = KEYS,
): Readonly<Record<string, unknown>> {
  const symbol = random.pick(keys);
  if (id === 'KINDS') {
    const [kind, date] = [random.pick(KINDS), dayOf(random)];
    return { symbol, kind, date, value: random.between(-9, 9) };
  }
  const price = random.pick<number>([1, 0.1, 1e21, 12.75, 1e-7, 123456789.125]);
  if (id === 'TICKS') return { symbol, time: timeOf(random), price, kind: random.pick(KINDS) };
  const note = random.pick<string | null>([null, 'plain', 'q"uote', 'ü\u2028, \\']);
  const size = random.pick<number | null>([null, 7, 2 ** 53 - 1]);
  return { symbol, date: dayOf(random), close: price, size, note };
}

async function load(server: TestServer, random: Seeded, id: DatasetId): Promise<void> {
  const dataset = DATASETS.find((item) => item.id === id) ?? DATASETS[0];
  // One key, or two that are neighbours or far apart: keys between them are evicted as well.
  const few = [random.pick(KEYS), random.pick(KEYS)] as const;
  const keys = random.pick<typeof KEYS>([KEYS, [few[0]], [...few]]);
  const records = Array.from({ length: random.between(1, 60) }, () => recordOf(random, id, keys));
  // The first load has a value of each type, so that no column type is guessed.
  const days = { symbol: 'AAPL', date: '2024-01-01', close: 0.5, size: 1, note: 'n' };
  const ticks = { symbol: 'AAPL', time: '2024-01-01T10:30:00.000Z', price: 0.5, kind: 'x' };
  const first = { DAYS: [days], TICKS: [ticks], KINDS: [] };
  const rows = [...first[id], ...records];
  const how = `${dataset.index}&duplicateKeyHandling=${random.pick<string>(['replace', 'ignore'])}`;
  const url = `${server.base}/v1/data/WS/${id}?wait=true&${how}&token=${server.secret}`;
  const answer = await fetch(url, { method: 'POST', body: JSON.stringify(rows) });
  assert.equal(answer.status, 200, await answer.text());
}

async function pushAndRead(server: TestServer, random: Seeded): Promise<void> {
  const { id } = random.pick(DATASETS);
  const record = recordOf(random, id);
  const url = `${server.base}/v1/record/WS/${id}?token=${server.secret}&duplicateKeyHandling=`;
  const answer = await fetch(`${url}replace`, { method: 'POST', body: JSON.stringify(record) });
  assert.equal(answer.status, 200, await answer.text());
  const date = String(record['date'] ?? record['time']).slice(0, 10);
  const day = `from=${date}&to=${date}&limit=100`;
  const path = `/v1/data/WS/${id}/${String(record['symbol'])}?${day}`;
  const read = (await (
    await fetch(`${server.base}${path}&token=${server.publishable}`)
  ).json()) as readonly Readonly<Record<string, unknown>>[];
  const isFound = read.some((row) =>
    Object.entries(record).every(([name, value]) => row[name] === value),
  );
  assert.ok(isFound, `${path} does not have ${JSON.stringify(record)}: ${JSON.stringify(read)}`);
}

async function flush({ tapedeck }: TestServer, id: DatasetId): Promise<void> {
  await tapedeck.services.runner.inTurn('WS', id, async () => undefined);
}

async function compact({ tapedeck }: TestServer, id: DatasetId): Promise<void> {
  const { ingestion, lake, runner } = tapedeck.services;
  const dataset = lake.directory.dataset('WS', id);
  if (dataset === undefined) return;
  await runner.inTurn('WS', id, async () => {
    await compactDataset(dataset, ingestion, 2);
  });
}

async function remove(server: TestServer, random: Seeded): Promise<void> {
  const { id } = random.pick(DATASETS);
  const path = `/v1/data/WS/${id}/${random.pick(KEYS)}?from=${dayOf(random)}&to=2024-01-20`;
  const answer = await fetch(`${server.base}${path}&token=${server.secret}`, { method: 'DELETE' });
  // A range that begins after its end is refused.
  assert.ok(answer.status === 200 || answer.status === 400, await answer.text());
}

/** Compares a request to the files with the same request to memory, three times so that it is cached. */
async function compare(server: TestServer, random: Seeded, step: number): Promise<void> {
  const path = pathOf(random);
  const ask = async (cache: boolean): Promise<readonly [number, string | null, string]> => {
    const url = `${server.base}${path}&cache=${cache}&token=${server.publishable}`;
    const answer = await fetch(url);
    const used = answer.headers.get('svccloud-messages-used');
    return [answer.status, used, await answer.text()];
  };
  const files = await ask(false);
  for (let time = 0; time < 3; time += 1) {
    assert.deepEqual(await ask(true), files, `step ${step}: ${path}`);
  }
}

function pathOf(random: Seeded): string {
  const { id } = random.pick(DATASETS);
  const key = random.pick(['aapl', 'NONE', ...KEYS]);
  const subkey = id === 'KINDS' && random.between(0, 1) === 0 ? `/${random.pick(KINDS)}` : '';
  const door = random.pick<string>([`data/WS/${id}`, `time-series/${id}`]);
  const [from, to] = [dayOf(random), dayOf(random)].toSorted();
  const range = random.pick([
    '',
    `&from=${from}`,
    `&to=${to}`,
    `&from=${from}&to=${to}`,
    `&on=${to}`,
  ]);
  const counts = random.pick<string>([
    '',
    '&limit=3',
    '&last=5',
    '&first=4',
    '&last=50',
    '&limit=2',
  ]);
  const more = random.pick<string>([
    '',
    '&sort=asc',
    '&sort=desc',
    '&offset=2',
    '&filter=symbol,date,time',
  ]);
  return `/v1/${door}/${key}${subkey}?_=1${range}${counts}${more}`;
}
