// The law of months: with any clock, no account spends a month's quota twice, and headers, ledger, usage and
// journal agree. A walk jumps over ends of months in both directions, by tiny skews up to more than a year,
// while calls are in flight and while the server is down.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { verifyLedger } from '../../../../jobs/upkeep/verifyLedger.ts';
import { type CallLine, parseLines, readJournal } from '../../../../store/ledger/journal.ts';
import { type Seeded, seeded } from '../../crash/rounds/seeded.ts';
import { startServer, type TestServer } from '../../../base/server.ts';

const STEPS = 14;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Monthly messages: of the free tier, of premium data, of a token with a limit. */
const QUOTA = 50_000;
const PREMIUM = 40_000;
const TOKEN_LIMIT = 30_000;
const WEIGHT = 5_000;
/** Some with half-hour offsets, on either side of Greenwich. */
const ZONES = ['America/New_York', 'UTC', 'Pacific/Auckland', 'America/St_Johns'] as const;

interface Party {
  readonly accountId: string;
  /** The second one has a limit of its own. */
  readonly tokens: readonly [string, string];
}

interface Walk {
  readonly random: Seeded;
  readonly time: { nowMs: number };
  server: TestServer;
  parties: readonly Party[];
  /** Messages in headers, by token. */
  readonly headers: Map<string, number>;
  month: string;
}

/** Plays `count` walks from a seed; returns how many calls were charged in how many months. */
export async function clockLaw(count: number, seed: number): Promise<string> {
  const totals = { charged: 0, refused: 0, months: 0 };
  for (let at = 0; at < count; at += 1) {
    const folder = await mkdtemp(join(tmpdir(), 'tapedeck-clock-'));
    const random = seeded(seed * 1_000 + at);
    try {
      const walked = await walk(folder, random);
      totals.charged += walked.charged;
      totals.refused += walked.refused;
      totals.months += walked.months;
    } catch (error) {
      throw new Error(`walk ${at} of seed ${seed}: ${String(error)}`, { cause: error });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
  return `${totals.charged} calls charged to ${totals.months} months, ${totals.refused} refused`;
}

async function walk(
  folder: string,
  random: Seeded,
): Promise<{ charged: number; refused: number; months: number }> {
  const time = { nowMs: Date.UTC(2026, 0, 31, 12) };
  const zone = random.pick(ZONES);
  const open = (): Promise<TestServer> =>
    startServer({
      folder,
      settings: { TAPEDECK_ZONE: zone },
      seams: { clock: () => time.nowMs, watch: false },
    });
  const server = await open();
  const state: Walk = { random, time, server, parties: [], headers: new Map(), month: '' };
  try {
    state.parties = await prepare(state.server);
    let refused = 0;
    for (let step = 0; step < STEPS; step += 1) {
      const dice = random.between(0, 9);
      if (dice < 3) jump(state);
      else if (dice < 4) {
        await state.server.close();
        if (random.chance(0.5)) jump(state);
        state.server = await open();
        state.month = await newestCharged(state.server);
      } else refused += await burst(state);
      monotone(state);
    }
    return { ...(await compare(state)), refused };
  } finally {
    await state.server.close();
  }
}

async function prepare(server: TestServer): Promise<readonly Party[]> {
  const headers = { authorization: `Bearer ${server.secret}` };
  const send = async (method: string, path: string, body: string): Promise<void> => {
    const answer = await fetch(`${server.base}/v1${path}`, { method, headers, body });
    assert.equal(answer.status, 200, await answer.text());
  };
  await send('POST', '/workspaces', '{"name":"CORE"}');
  for (const [name, level] of [
    ['OPEN', 'open'],
    ['PREMIUM', 'premium'],
  ] as const) {
    const rows = 'symbol,date,v\nA,2020-01-01,1\nA,2020-01-02,1\nA,2020-01-03,1\n';
    await send('POST', `/data/CORE/${name}?wait=true`, rows);
    const access = JSON.stringify({ weight: WEIGHT, access: { level } });
    await send('PATCH', `/datasets/CORE/${name}`, access);
  }
  const { accounts } = server.tapedeck.services;
  const parties: Party[] = [];
  for (const name of ['first', 'second']) {
    const accountId = await accounts.createAccount(name, 'free');
    await accounts.changeAccount(accountId, { premiumMessages: PREMIUM });
    const free = await accounts.createToken(accountId, 'publishable');
    const bound = { messageLimit: TOKEN_LIMIT };
    const limited = await accounts.createToken(accountId, 'secret', bound);
    parties.push({ accountId, tokens: [free.text, limited.text] });
  }
  return parties;
}

/** Jumps with the clock: over ends of months in either direction, far, or hardly at all. */
function jump(state: Walk): void {
  const { random, time } = state;
  const sign = random.chance(0.5) ? 1 : -1;
  const far = random.pick([20, 2_000, 12 * HOUR_MS, 20 * DAY_MS, 33 * DAY_MS, 400 * DAY_MS]);
  const toEnd = state.server.tapedeck.services.days.monthEnd(time.nowMs) - time.nowMs;
  // Just before or after the end of a month, or anywhere.
  time.nowMs += random.chance(0.4) ? toEnd + random.between(-3, 3) : sign * far;
}

/** Concurrent calls; the clock may jump while they are in flight. Returns how many were refused. */
async function burst(state: Walk): Promise<number> {
  const { random, server } = state;
  const calls = Array.from({ length: random.pick([1, 1, 6]) }, async () => {
    const party = random.pick([state.parties[0], state.parties[1]]);
    const token = random.pick(party?.tokens ?? ['', '']);
    const dataset = random.pick(['OPEN', 'OPEN', 'PREMIUM'] as const);
    const last = random.between(1, 3);
    const url = `${server.base}/v1/data/CORE/${dataset}/A?last=${last}&token=${token}`;
    const answer = await fetch(url);
    await answer.arrayBuffer();
    const used = ['messages', 'premium-messages']
      .map((name) => Number(answer.headers.get(`svccloud-${name}-used`) ?? 0))
      .reduce((sum, count) => sum + count, 0);
    assert.ok([200, 402].includes(answer.status), `${answer.status}`);
    // A call whose quota did not cover the answer is charged its minimum.
    const costs = answer.status === 200 ? [last * WEIGHT] : [0, WEIGHT];
    assert.ok(costs.includes(used), `${used} messages for ${answer.status}`);
    state.headers.set(token, (state.headers.get(token) ?? 0) + used);
    return answer.status === 200 ? 0 : 1;
  });
  if (calls.length > 1 && random.chance(0.5)) {
    await new Promise((resolve) => setTimeout(resolve, random.between(0, 8)));
    jump(state);
  }
  const refused: number[] = await Promise.all(calls);
  return refused.reduce((sum, one) => sum + one, 0);
}

function monotone(state: Walk): void {
  const { month } = state.server.tapedeck.services.ledger;
  assert.ok(month >= state.month, `the month went from ${state.month} back to ${month}`);
  state.month = month;
}

/** The newest month with a charge: a restart may leave a month that was opened but never charged. */
async function newestCharged({ tapedeck }: TestServer): Promise<string> {
  const balances = await tapedeck.services.database.selectFrom('balance').select('month').execute();
  return balances.reduce((newest, { month }) => (month > newest ? month : newest), '');
}

/** Compares journal, balances, usage and headers, and each month with its bounds. */
async function compare(state: Walk): Promise<{ charged: number; months: number }> {
  const { database, journal, ledger, accounts, days } = state.server.tapedeck.services;
  await ledger.flush();
  assert.deepEqual((await verifyLedger(journal, ledger)).faults, []);
  const lines = (await readJournal(database)).flatMap(({ text }) => parseLines(text));
  const spent = (keyOf: (line: CallLine) => string): ReadonlyMap<string, number> => {
    const sums = new Map<string, number>();
    for (const line of lines) {
      const more = line.messages + line.premium;
      sums.set(keyOf(line), (sums.get(keyOf(line)) ?? 0) + more);
    }
    return sums;
  };
  for (const line of lines)
    assert.equal(days.month(line.timeMs), line.month, 'charged in its month');
  const kind = ({ premium }: CallLine): string => (premium > 0 ? 'premium' : 'messages');
  const byMonth = spent((line) => `${line.accountId} ${line.month} ${kind(line)}`);
  for (const [key, sum] of byMonth) {
    assert.ok(sum <= (key.endsWith('premium') ? PREMIUM : QUOTA), `${key}: ${sum}`);
  }
  const byToken = spent((line) => `${line.tokenId} ${line.month}`);
  const inAll = spent(({ tokenId }) => tokenId);
  for (const { accountId, tokens } of state.parties) {
    const limited = accounts.identify(tokens[1]).tokenId;
    for (const [key, sum] of byToken) {
      if (key.startsWith(limited)) assert.ok(sum <= TOKEN_LIMIT, `token ${key}: ${sum}`);
    }
    for (const token of tokens) {
      const { tokenId } = accounts.identify(token);
      assert.equal(inAll.get(tokenId) ?? 0, state.headers.get(token) ?? 0, 'headers = journal');
    }
    const url = `${state.server.base}/v1/account/usage/messages?token=${tokens[1]}`;
    const usage = (await (await fetch(url)).json()) as Record<string, number>;
    const ledgerUsed = [ledger.balance(accountId).used, ledger.premiumBalance(accountId).used];
    assert.deepEqual(
      [usage['monthlyUsage'], usage['monthlyPremium']],
      ledgerUsed,
      'usage = ledger',
    );
    const journalled = ['messages', 'premium'].map(
      (name) => byMonth.get(`${accountId} ${ledger.month} ${name}`) ?? 0,
    );
    assert.deepEqual(ledgerUsed, journalled, 'ledger = journal');
  }
  return { charged: lines.length, months: new Set(lines.map(({ month }) => month)).size };
}
