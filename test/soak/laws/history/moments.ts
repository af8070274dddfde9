// Answers are repeatable: any answer of any endpoint, requested again as of its moment, is the same byte for
// byte, after any pushes, loads, deletions, flushes, compactions, edits, clock changes and restarts; likewise
// as of the time at which it was read.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compactDataset } from '../../../../jobs/upkeep/compaction.ts';
import { makeUpkeep } from '../../../../jobs/upkeep/upkeep.ts';
import { loaded } from '../../../base/client.ts';
import { type Seeded, seeded } from '../../crash/rounds/seeded.ts';
import { copyAtOnce, startServer, type TestServer } from '../../../base/server.ts';

/** N has no unique index: it stores equal records. */
const IDS = ['D', 'K', 'N'] as const;
const SYMBOLS = ['A', 'B', 'C'] as const;
const HOUR_MS = 3_600_000;
const BEGIN_MS = Date.UTC(2026, 0, 1);
/** Longer than any history here: all versions and all pushes are kept. */
const KEEP = { allMs: 10_000 * 24 * HOUR_MS, hourlyMs: 1e15, dailyMs: 1e15 };

type Id = (typeof IDS)[number];

interface Play {
  server: TestServer;
  folder: string;
  readonly random: Seeded;
  readonly clock: { ms: number };
  answers: readonly PastAnswer[];
  added: number;
}

/** An answer, and the request that repeats it. */
interface PastAnswer {
  readonly path: string;
  readonly body: string;
  readonly moment: string;
  /** The time of the clock, if it means exactly this moment. */
  readonly ms: number | undefined;
  readonly label: string;
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly moment: string;
}

async function ask(server: TestServer, method: string, path: string, body = ''): Promise<Answer> {
  const headers = { authorization: `Bearer ${server.secret}` };
  const init = method === 'GET' ? {} : { body };
  const answer = await fetch(`${server.base}/v1${path}`, { method, headers, ...init });
  const bytes = Buffer.from(await answer.arrayBuffer()).toString('base64');
  const moment = answer.headers.get('svccloud-as-of') ?? '';
  return { status: answer.status, text: bytes, moment };
}

async function done(server: TestServer, method: string, path: string, body = ''): Promise<void> {
  const { status, text } = await ask(server, method, path, body);
  const message = Buffer.from(text, 'base64').toString();
  assert.equal(status, 200, `${method} ${path}: ${message}`);
}

const rowOf = ({ added, random }: Play): object => ({
  symbol: random.pick(SYMBOLS),
  date: `2020-01-0${random.between(1, 6)}`,
  v: random.chance(0.2) ? null : random.between(-99, 99) / 4,
  note: random.pick<string | null>([null, 'plain', 'q"uote, ü']),
  ...Object.fromEntries(
    Array.from({ length: added }, (_, at) => [`p${at}`, `of ${random.between(0, 9)}`] as const),
  ),
});

const rowsOf = (play: Play, most: number): readonly object[] =>
  Array.from({ length: play.random.between(1, most) }, () => rowOf(play));

const howOf = ({ random }: Play): string =>
  `duplicateKeyHandling=${random.pick(['replace', 'ignore'])}`;

type Step = (play: Play, id: Id) => Promise<string>;

const push: Step = async (play, id) => {
  const [how, rows] = [howOf(play), rowsOf(play, 4)];
  await done(play.server, 'POST', `/record/WS/${id}?${how}`, JSON.stringify(rows));
  return `push ${id} ${how} ${JSON.stringify(rows)}`;
};

const load: Step = async (play, id) => {
  const how = `${howOf(play)}${play.random.chance(0.2) ? '&overwrite=true' : ''}`;
  const body = JSON.stringify(rowsOf(play, 5));
  await done(play.server, 'POST', `/data/WS/${id}?wait=true&${how}`, body);
  return `load ${id} ${how}`;
};

const erase: Step = async ({ random, server }, id) => {
  const symbol = random.pick(SYMBOLS);
  await done(server, 'DELETE', `/data/WS/${id}/${symbol}?from=2020-01-02&to=2020-01-04`);
  return `erase ${id} ${symbol}`;
};

/** After a purge, earlier moments can no longer be read. */
const purge: Step = async (play, id) => {
  const path = `/data/WS/${id}/${play.random.pick(SYMBOLS)}?purge=true`;
  const { text } = await ask(play.server, 'DELETE', path);
  const message = Buffer.from(text, 'base64').toString();
  if (message.includes('purged 0 ')) return `purge of nothing`;
  // The view and the batch read both datasets.
  const purgedAnswers = play.answers.filter((one) => reads(one, id));
  play.answers = play.answers.filter((one) => !purgedAnswers.includes(one));
  const one = purgedAnswers.at(-1);
  if (one !== undefined) {
    const { status } = await ask(play.server, 'GET', withMoment(one.path, one.moment));
    assert.equal(status, 410, `${message}: ${one.path} as of ${one.moment}`);
  }
  return `purge ${id}: ${message}`;
};

const reads = ({ path }: PastAnswer, id: Id): boolean =>
  (id !== 'N' && (path.includes('D,K') || path.includes('JOIN'))) ||
  path.includes(`WS/${id}`) ||
  path.includes(`WS.${id}`) ||
  (id === 'D' && path.includes('WS/V')) ||
  path.includes(`FROM%20${id}`);

const flush: Step = async ({ server }, id) => {
  await server.tapedeck.services.runner.inTurn('WS', id, async () => undefined);
  return `flush ${id}`;
};

const compact: Step = async ({ server }, id) => {
  const { ingestion, lake, runner } = server.tapedeck.services;
  const dataset = lake.directory.dataset('WS', id);
  assert.ok(dataset);
  await runner.inTurn('WS', id, async () => {
    await compactDataset(dataset, ingestion, 2);
  });
  return `compaction ${id}`;
};

const addProperty: Step = async (play) => {
  const body = JSON.stringify({
    schema: { properties: { [`p${play.added}`]: { type: 'string' } } },
  });
  for (const id of IDS) await done(play.server, 'PATCH', `/datasets/WS/${id}`, body);
  play.added += 1;
  return `property p${play.added - 1}`;
};

/** Jumps with the clock in either direction: a time that recurs means another moment then. */
const jump: Step = async (play) => {
  const { clock, random, server } = play;
  clock.ms += random.pick([40 * HOUR_MS, HOUR_MS, 3_000, -3_000, -HOUR_MS, -30 * HOUR_MS]);
  // A server does this every second.
  const { database, lakeClock } = server.tapedeck.services;
  await lakeClock.updateMarks(database);
  play.answers = play.answers.map((one) =>
    one.ms !== undefined && one.ms >= clock.ms ? { ...one, ms: undefined } : one,
  );
  return `the clock is at ${new Date(clock.ms).toISOString()}`;
};

const thin: Step = async ({ server }) => {
  const upkeep = makeUpkeep({ ...server.tapedeck.services, keep: KEEP });
  await upkeep.expireVersions();
  return 'upkeep';
};

const restart: Step = async (play) => {
  await play.server.close();
  play.server = await open(play.folder, play.clock);
  return 'restart';
};

/** Simulates a kill: goes on with a copy of the folder from the middle of a push, a load or a flush. */
const kill: Step = async (play, id) => {
  const { folder, random, server } = play;
  const left = await mkdtemp(join(tmpdir(), 'tapedeck-moments-'));
  const cut = random
    .pick([push, flush, load])(play, id)
    .catch(() => 'cut off');
  await new Promise((resolve) => setTimeout(resolve, random.between(0, 40)));
  await copyAtOnce(server, left);
  await cut;
  await server.close();
  await rm(folder, { recursive: true, force: true });
  play.folder = left;
  play.server = await open(left, play.clock);
  return 'kill';
};

/** Weight of each step. */
const STEPS: readonly (readonly [Step, number])[] = [
  [push, 24],
  [load, 4],
  [erase, 3],
  [purge, 1],
  [flush, 5],
  [compact, 3],
  [addProperty, 1],
  [jump, 3],
  [thin, 1],
  [restart, 2],
  [kill, 2],
];

const DICE: readonly Step[] = STEPS.flatMap(([step, times]) => Array<Step>(times).fill(step));

const sql = (text: string): string => `/sql-query/WS?sqlQuery=${encodeURIComponent(text)}`;

const PATHS: readonly [string, ...string[]] = [
  '/data/WS/D?limit=1000',
  '/data/WS/K?limit=1000&includeSystemRecordProperties=true',
  '/data/WS/D/A?last=3',
  '/data/WS/D/A?last=3',
  '/data/WS/D/B?limit=100&sort=asc',
  '/data/WS/D/a,B,C?from=2020-01-02&to=2020-01-05&format=csv',
  '/data/WS/K?limit=9&offset=2&format=jsonl',
  '/data/WS/K?limit=1000&interval=2&format=parquet',
  '/data/WS/D?limit=1000&format=arrow',
  '/data/WS/D,K/A?last=5',
  '/time-series/WS.D/C?last=4',
  '/time-series/WS.K/A?first=2',
  '/data/WS/N?limit=1000',
  '/data/WS/N/A?last=5&format=csv',
  '/time-series/WS.N/B?first=3',
  sql('SELECT symbol, date, v, note FROM N ORDER BY symbol, date, v, note'),
  '/data/WS/V?limit=100',
  '/data/WS/V/B?last=2&format=csv',
  sql('SELECT * FROM D ORDER BY symbol, date'),
  sql('SELECT symbol, count(*) AS n, sum(v) AS s FROM K GROUP BY symbol ORDER BY symbol'),
  sql(
    'SELECT a.symbol, a.date, a.v, b.v AS w FROM D AS a JOIN K AS b ON a.symbol = b.symbol ' +
      'AND a.date = b.date ORDER BY a.symbol, a.date',
  ),
];

/** Sends some requests, alone or concurrently with a step, and keeps their answers. */
async function readSome(play: Play, label: string, alone: boolean): Promise<void> {
  const { clock, random } = play;
  const { lakeClock, runner } = play.server.tapedeck.services;
  // A load that a kill interrupted resumes automatically: its commit may have the time of a read.
  const isIdle = (): boolean => runner.load().running + runner.load().waiting === 0;
  clock.ms += random.between(20, 900_000);
  const ms = clock.ms;
  for (let look = random.between(1, 3); look > 0; look -= 1) {
    const path = random.pick(PATHS);
    const wasIdle = isIdle();
    const { moment, status, text } = await ask(play.server, 'GET', path);
    const excerpt = Buffer.from(text, 'base64').toString().slice(0, 300);
    assert.equal(status, 200, `${label}: ${path}: ${excerpt}`);
    assert.match(moment, /^\d+:\d+$/, path);
    // Every commit so far is before this time of the clock, and later commits are after it.
    const untouched = alone && wasIdle && isIdle();
    const exact = untouched && lakeClock.now() === lakeClock.toLakeTime(ms - 1) + 1;
    play.answers = [
      ...play.answers,
      { path, body: text, moment, ms: exact ? ms : undefined, label },
    ];
  }
  clock.ms += 20;
}

const withMoment = (path: string, moment: string | number): string => `${path}&asOf=${moment}`;

/** Repeats the requests of all kept answers, and compares. */
async function askAgain({ answers, server }: Play, label: string): Promise<number> {
  let compared = 0;
  for (const one of answers) {
    const again = one.ms === undefined ? [one.moment] : [one.moment, one.ms];
    for (const asOf of again) {
      const { moment, status, text } = await ask(server, 'GET', withMoment(one.path, asOf));
      const place = `${label}: ${one.path} as of ${asOf} (${one.moment}), read after ${one.label}`;
      const [was, is] = [one.body, text].map((body) => Buffer.from(body, 'base64').toString());
      assert.equal(status, 200, `${place}: ${is}`);
      assert.equal(is, was, place);
      if (asOf === one.moment) assert.equal(moment, one.moment, place);
      compared += 1;
    }
  }
  return compared;
}

const open = (folder: string, clock: { readonly ms: number }): Promise<TestServer> =>
  startServer({ folder, seams: { clock: () => clock.ms, watch: false } });

async function makeDatasets(server: TestServer): Promise<void> {
  const first = { symbol: 'A', date: '2020-01-01', v: 0.5, note: 'x' };
  for (const id of IDS) {
    const index = { key: 'symbol', date: 'date', ...(id === 'N' ? { uniqueIndex: 'false' } : {}) };
    await loaded(server, id, JSON.stringify(first), index);
  }
  const query = 'SELECT symbol, date, max(v) AS v FROM D GROUP BY symbol, date';
  const view = { query, columnMapping: { key: 'symbol', date: 'date' } };
  await done(server, 'POST', '/views/WS/V', JSON.stringify({ view }));
}

/** Plays one history; returns how many answers were compared. */
export async function momentsLaw(steps: number, seed: number): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-moments-'));
  const clock = { ms: BEGIN_MS };
  const random = seeded(seed);
  const play: Play = {
    server: await open(folder, clock),
    folder,
    random,
    clock,
    answers: [],
    added: 0,
  };
  let compared = 0;
  try {
    await makeDatasets(play.server);
    for (let at = 1; at <= steps; at += 1) {
      clock.ms += random.between(20, 600_000);
      const step = DICE[random.between(0, DICE.length - 1)] ?? flush;
      const id = random.pick(IDS);
      // A purge or a restart breaks concurrent reads.
      const beside =
        step !== purge && step !== restart && step !== kill && step !== jump && random.chance(0.3);
      const label = `seed ${seed}, step ${at}`;
      const reading = beside ? readSome(play, `${label}, beside it`, false) : undefined;
      const what = `${label}: ${await step(play, id)}`;
      await reading;
      await readSome(play, what, true);
      if (at % 12 === 0) compared += await askAgain(play, what);
    }
    return compared + (await askAgain(play, `seed ${seed}, at the end`));
  } finally {
    await play.server.close();
    await rm(play.folder, { recursive: true, force: true });
  }
}
