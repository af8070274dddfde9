// Accounts whose messages are nearly used up, at three nodes: 2 to 40 concurrent requests through all
// nodes, some aborted by their clients, while a token is rotated or the limit changes. No message over the
// limit is used; the headers match the charges; no request within the rest is refused; no hold remains.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { fetchText } from '../rounds/killable.ts';
import { ADMIN_TOKEN, type Node, startNodes } from './nodes.ts';
import { type Order, type Orders, type Report, type Seeded, seeded } from '../rounds/seeded.ts';

const NODES = 3;
const KEYS = 6;
/** Records of each key. */
const RECORDS = 60;
/** Datasets by the price of a record. */
const WEIGHTS = { ONE: 1, SEVEN: 7, FORTY: 40 } as const;
type Dataset = keyof typeof WEIGHTS;
const DATASETS = ['ONE', 'ONE', 'SEVEN', 'FORTY'] as const satisfies readonly Dataset[];
/** Messages of the free tier, which can buy no more. */
const FREE_QUOTA = 50_000;
/** Time limit for the queries of clients that have disconnected. */
const QUIET_MS = 30_000;

const KINDS = ['budget', 'token limit', 'quota'] as const;
type Kind = (typeof KINDS)[number];

interface Race {
  readonly kind: Kind;
  readonly accountId: string;
  readonly tokenId: string;
  readonly secret: string;
  /** Messages that were used before it began. */
  readonly before: number;
  isRotated: boolean;
  /** The current token; an older one is refused. */
  token: string;
  /** Messages that may be used in total, with the lowest and the highest limit so far. */
  readonly limit: { now: number; least: number; most: number };
}

interface Attempt {
  readonly path: string;
  /** The most that it may hold meanwhile; all messages for SQL. */
  readonly holds: number;
  readonly costs: number;
  /** For records of other accounts: the price if its account can not pay for the whole answer. */
  readonly least: number;
  readonly beganMs: number;
  readonly endedMs: number;
  readonly status: number | 'cut';
  readonly messages: number;
}

interface Scene {
  readonly living: readonly Node[];
  readonly random: Seeded;
}

/** Runs `count` races of each seed over the same nodes, each race with its own account. */
export async function quotaRaces({ seeds, ...order }: Orders): Promise<readonly Report[]> {
  await using here = await startNodes(NODES);
  const [first] = here.living;
  assert.ok(first);
  await load(first.base);
  const reports: Report[] = [];
  for (const seed of seeds) reports.push(await seedRaces(here.living, { ...order, seed }));
  return reports;
}

async function seedRaces(living: readonly Node[], { count, log, seed }: Order): Promise<Report> {
  const scene: Scene = { living, random: seeded(seed) };
  const failures: string[] = [];
  const statusCounts: Record<string, number> = {};
  for (let at = 0; at < count; at += 1) {
    const race = await prepared(scene, at);
    const all = await run(race, scene);
    for (const { status } of all) statusCounts[status] = (statusCounts[status] ?? 0) + 1;
    const faults = await faultsOf(race, all, scene);
    const what = `${race.kind}, ${all.length} requests of ${race.limit.now - race.before}`;
    failures.push(...faults.map((fault) => `seed ${seed}, race ${at}, ${what}: ${fault}`));
    log(`${at}: ${what}`);
  }
  const { faults } = await admin<{ readonly faults: readonly string[] }>(
    ...([scene, 'GET', '/verify-ledger'] as const),
  );
  failures.push(...faults.map((fault) => `seed ${seed}: ${fault}`));
  const notes = Object.entries(statusCounts).map(([status, times]) => `${status}: ${times}`);
  return { seed, count, failures, notes: [`requests ${notes.join(', ')}`] };
}

/** Loads datasets into `CORE`, which every account reads. */
async function load(base: string): Promise<void> {
  const lines = Array.from({ length: KEYS * RECORDS }, (_, at) => {
    const day = new Date(Date.UTC(2024, 0, 1 + Math.floor(at / KEYS))).toISOString();
    return `K${at % KEYS},${day.slice(0, 10)},${at}`;
  });
  const body = `symbol,date,v\n${lines.join('\n')}\n`;
  for (const [name, weight] of Object.entries({ ...WEIGHTS, SPENT: 1 })) {
    await fetchText(base, 'POST', `/data/CORE/${name}?wait=true&key=symbol&date=date`, body);
    await fetchText(base, 'PATCH', `/datasets/CORE/${name}`, JSON.stringify({ weight }));
  }
}

const anyOf = ({ living, random }: Scene): Node => random.pick(living as [Node, ...Node[]]);

async function admin<T>(scene: Scene, method: string, path: string, body?: object): Promise<T> {
  const bodyInit = body === undefined ? {} : { body: JSON.stringify(body) };
  const url = `${anyOf(scene).base}/v1/admin${path}`;
  const authorization = `Bearer ${ADMIN_TOKEN}`;
  const answer = await fetch(url, { method, headers: { authorization }, ...bodyInit });
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  return JSON.parse(text) as T;
}

interface NewToken {
  readonly tokenId: string;
  readonly token: string;
}

async function prepared(scene: Scene, at: number): Promise<Race> {
  const { random } = scene;
  const kind = random.pick(KINDS);
  const limit = random.between(1, random.pick([60, 600, 6_000]));
  const tier = kind === 'quota' ? 'free' : 'grow';
  const { accountId } = await admin<{ readonly accountId: string }>(
    ...([scene, 'POST', '/accounts', { name: `race ${at}`, tier }] as const),
  );
  const token = (settings: object): Promise<NewToken> =>
    admin<NewToken>(scene, 'POST', `/accounts/${accountId}/tokens`, settings);
  const { token: secret } = await token({ kind: 'secret' });
  const most = kind === 'token limit' ? { messageLimit: limit } : {};
  const reader = await token({ kind: 'publishable', ...most });
  const before = kind === 'quota' ? FREE_QUOTA - limit : 0;
  if (before > 0) await spend(anyOf(scene).base, reader.token, before);
  const race: Race = {
    kind,
    accountId,
    secret,
    tokenId: reader.tokenId,
    token: reader.token,
    before,
    isRotated: false,
    limit: {
      now: before + limit,
      least: before + limit,
      most: before + limit,
    },
  };
  if (kind === 'budget') await setLimit(race, limit, scene);
  return race;
}

/** Spends messages with one record of that price. */
async function spend(base: string, token: string, messages: number): Promise<void> {
  await fetchText(base, 'PATCH', '/datasets/CORE/SPENT', JSON.stringify({ weight: messages }));
  const answer = await fetch(`${base}/v1/data/CORE/SPENT/K0?last=1&token=${token}`);
  await answer.arrayBuffer();
  assert.equal(answer.headers.get('svccloud-messages-used'), String(messages));
}

async function setLimit(race: Race, limit: number, scene: Scene): Promise<void> {
  const { accountId, kind, tokenId } = race;
  // Until the change is done, either limit may apply.
  race.limit.least = Math.min(race.limit.least, limit);
  race.limit.most = Math.max(race.limit.most, limit);
  const at = `/accounts/${accountId}`;
  if (kind === 'budget') await admin(scene, 'PATCH', at, { budget: limit });
  else await admin(scene, 'PATCH', `${at}/tokens/${tokenId}`, { messageLimit: limit });
  race.limit.now = limit;
}

async function run(race: Race, scene: Scene): Promise<readonly Attempt[]> {
  const random = scene.random.fork();
  const isLate = random.chance(0.3);
  const all = Array.from({ length: random.between(2, 40) }, async () => {
    const request = requestOf(random);
    const base = anyOf({ ...scene, random }).base;
    const cutMs = random.chance(0.1) ? random.between(0, 40) : undefined;
    await sleep(isLate ? random.between(0, 60) : 0);
    return ask(`${base}/v1${request.path}&token=${race.token}`, request, cutMs);
  });
  const meanwhile = random.next();
  await sleep(random.between(0, 30));
  if (meanwhile < 0.2) {
    const path = `/accounts/${race.accountId}/tokens/${race.tokenId}/rotate`;
    race.isRotated = true;
    race.token = (await admin<NewToken>(scene, 'POST', path)).token;
  } else if (meanwhile < 0.5 && race.kind !== 'quota') {
    await setLimit(race, random.between(1, 2 * race.limit.now), scene);
  }
  return Promise.all(all);
}

type Request = Pick<Attempt, 'path' | 'holds' | 'costs' | 'least'>;

function requestOf(random: Seeded): Request {
  const dataset = random.pick(DATASETS);
  const weight = WEIGHTS[dataset];
  const records = random.between(1, random.pick([3, 20, RECORDS]));
  const key = `K${random.between(0, KEYS - 1)}`;
  if (random.chance(0.06)) {
    const sql = encodeURIComponent(`SELECT v FROM ${dataset} WHERE symbol = '${key}'`);
    const path = `/sql-query/CORE?sqlQuery=${sql}`;
    return { path, holds: Infinity, costs: RECORDS * weight, least: weight };
  }
  const most = { holds: records * weight, costs: records * weight, least: weight };
  return random.chance(0.5)
    ? { path: `/data/CORE/${dataset}/${key}?last=${records}`, ...most }
    : { path: `/time-series/CORE.${dataset}/${key}?limit=${records}`, ...most };
}

async function ask(url: string, request: Request, cutMs: number | undefined): Promise<Attempt> {
  const signal = cutMs === undefined ? {} : { signal: AbortSignal.timeout(cutMs) };
  const beganMs = performance.now();
  const [status, messages] = await fetch(url, signal).then(
    async (answer) => {
      const used = Number(answer.headers.get('svccloud-messages-used') ?? 0);
      // The headers state the price, even if the body is cut off.
      await answer.arrayBuffer().catch(() => undefined);
      return [answer.status, used] as const;
    },
    (error: unknown) => {
      if (cutMs === undefined) throw error;
      return ['cut', 0] as const;
    },
  );
  return { ...request, beganMs, endedMs: performance.now(), status, messages };
}

async function faultsOf(
  race: Race,
  all: readonly Attempt[],
  scene: Scene,
): Promise<readonly string[]> {
  const faults = all.flatMap((one) => faultsOfOne(one, race, all));
  const reportedMessages = race.before + all.reduce((sum, { messages }) => sum + messages, 0);
  const cut = all.filter(({ status }) => status === 'cut');
  const ofCut = cut.reduce((sum, { costs }) => sum + costs, 0);
  const { faults: probeFaults, used } = await probed(race, scene, ofCut);
  const most = reportedMessages + ofCut;
  if (used < reportedMessages || used > most) {
    faults.push(
      `${used} messages were used, headers reported ${reportedMessages}, ${cut.length} were cut`,
    );
  }
  if (used > race.limit.most) faults.push(`${used} messages were used of ${race.limit.most}`);
  return [...faults, ...probeFaults];
}

function faultsOfOne(one: Attempt, race: Race, all: readonly Attempt[]): readonly string[] {
  const { costs, least, messages, path, status } = one;
  const summary = `${path}: ${status}, ${messages} messages`;
  const isPrice = status === 200 ? messages === costs : messages === 0;
  if (!isPrice && !(status === 402 && messages === least)) return [summary];
  if (status === 200 || status === 'cut' || (status === 403 && race.isRotated)) return [];
  if (status !== 402) return [summary];
  // All messages that may have been used or held when it was refused.
  const others = all.filter((other) => other !== one && other.beganMs < one.endedMs);
  const otherMessages = others.map((other) =>
    other.endedMs < one.beganMs && other.status !== 'cut' ? other.messages : other.holds,
  );
  const needed = race.before + otherMessages.reduce((sum, messages) => sum + messages, costs);
  return needed <= race.limit.least
    ? [`${summary}, though ${race.limit.least - needed} were left`]
    : [];
}

/**
 * Returns the messages that the race used. Checks that the rest can be used, and nothing more after that.
 * @param late messages that may still be charged, of clients that have disconnected
 */
async function probed(
  race: Race,
  scene: Scene,
  late: number,
): Promise<{ readonly used: number; readonly faults: readonly string[] }> {
  const { now: limit } = race.limit;
  const read = async (records: number): Promise<number> => {
    const path = `/v1/data/CORE/ONE/K0?last=${records}&token=${race.token}`;
    const answer = await fetch(anyOf(scene).base + path);
    await answer.arrayBuffer();
    return answer.status;
  };
  const untilMs = performance.now() + QUIET_MS;
  for (;;) {
    const used = await usage(race, scene);
    const left = limit - used;
    const records = Math.min(RECORDS, left);
    const status = records > 0 ? await read(records) : 200;
    if (status !== 200) {
      // The query of a client that has disconnected may still run.
      if (performance.now() < untilMs) await sleep(50);
      else return { used, faults: [`${status} for ${records} of ${left} messages that are left`] };
    } else {
      const last = left <= RECORDS ? await read(1) : 402;
      const before = (await usage(race, scene)) - Math.max(0, records);
      const isRight = before >= used && before <= used + late && last === 402;
      const fault = `${used} were used, ${before} without the ${records} that were left, then ${last}`;
      return { used: before, faults: isRight ? [] : [fault] };
    }
  }
}

async function usage({ secret }: Race, scene: Scene): Promise<number> {
  const url = `${anyOf(scene).base}/v1/account/usage/messages?token=${secret}`;
  const text = await (await fetch(url)).text();
  return (JSON.parse(text) as { readonly monthlyUsage: number }).monthlyUsage;
}
