// Minute bars that a client builds from its messages equal those that SQL builds from the stored trades: each
// trade is published once and in order, with concurrent pushes, trades of one instant, and a restart.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStream, until } from '../../../api/streams/listening.ts';
import { send } from '../../../base/client.ts';
import { seeded, type Seeded } from '../../crash/rounds/seeded.ts';
import { startServer, type TestServer } from '../../../base/server.ts';

/** The trades are in the four hours before, on a trading day in New York. */
const NOW_MS = Date.parse('2024-02-29T19:30:00Z');
const SPAN_MS = 4 * 3_600_000;
const SYMBOLS = ['AAA', 'BBB', 'CCC', 'DDD'] as const;
/** Some of its trades arrive after newer ones were published: they correct earlier bars. */
const LATE = 'LATE';
const BATCH_MAX = 40;

interface Trade {
  readonly symbol: string;
  readonly tradeId: string;
  readonly time: string;
  readonly price: number;
  readonly size: number;
  readonly isOddLot: boolean;
  readonly isOutsideRegularHours: boolean;
}

/** Bars as comparable lines, one for each symbol and minute. */
type Bars = readonly string[];

/** Pushes `count` trades. @returns the numbers of trades and of compared bars */
export async function streamBarsLaw(count: number, seed: number): Promise<string> {
  const random = seeded(seed);
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-bars-'));
  try {
    const trades = tradesOf(count, random);
    const half = random.between(1, count - 1);
    const heard = new Heard(`seed ${seed}`);
    for (const some of [trades.slice(0, half), trades.slice(half)]) {
      await using server = await startServer({ folder, seams: { clock: () => NOW_MS } });
      if (some[0] === trades[0]) await push(server, SYMBOLS.map(firstOf));
      await heard.listen(server, some, random);
    }
    await using server = await startServer({ folder, seams: { clock: () => NOW_MS } });
    const [all, lastBars] = [
      await storedBars(server, 'true'),
      await storedBars(server, BAR_CONDITION),
    ];
    assert.deepEqual(heard.bars(heard.trades), all, `seed ${seed}: bars of all trades`);
    assert.deepEqual(heard.bars(heard.lasts), lastBars, `seed ${seed}: bars of last sales`);
    return `${count} trades, ${all.length + lastBars.length} bars`;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const BAR_CONDITION = 'NOT isOddLot AND NOT isOutsideRegularHours';

/** A trade of the day before, so that the stream has a dataset. */
const firstOf = (symbol: string): Trade => ({
  symbol,
  tradeId: '0',
  time: new Date(NOW_MS - 864e5).toISOString(),
  price: 1,
  size: 1,
  isOddLot: false,
  isOutsideRegularHours: false,
});

/** Trades in the order of their times; several at one instant. */
function tradesOf(count: number, random: Seeded): readonly Trade[] {
  let atMs = NOW_MS - SPAN_MS;
  const stepMs = Math.floor((2 * SPAN_MS) / count) - 2;
  return Array.from({ length: count }, (_, at): Trade => {
    if (random.chance(0.7)) atMs += random.between(0, stepMs);
    const isLate = random.chance(0.1);
    const lateMs = isLate && random.chance(0.3) ? random.between(1, 600_000) : 0;
    return {
      symbol: isLate ? LATE : random.pick(SYMBOLS),
      tradeId: String(at + 1).padStart(9, '0'),
      time: new Date(atMs - lateMs).toISOString(),
      price: random.between(100, 900) / 4,
      size: random.between(1, 500),
      isOddLot: random.chance(0.2),
      isOutsideRegularHours: random.chance(0.1),
    };
  });
}

async function push(server: TestServer, trades: readonly Trade[]): Promise<void> {
  if (trades.length === 0) return;
  const answer = await send(server, 'POST', '/record/CORE/TRADES?wait=true', trades);
  assert.equal(answer.status, 200, answer.text);
}

type Message = Readonly<Record<string, unknown>>;

/** Collects the messages of two kinds of streams, over all servers of the law. */
class Heard {
  readonly trades: Message[] = [];
  readonly lasts: Message[] = [];
  readonly #label: string;

  constructor(label: string) {
    this.#label = label;
  }

  async listen(server: TestServer, trades: readonly Trade[], random: Seeded): Promise<void> {
    const names = [...SYMBOLS, LATE];
    const last = await openStream(server, '/last?nosnapshot=true');
    const deep = await Promise.all(
      names.map((symbol) => openStream(server, `/trades?symbols=${symbol}&nosnapshot=true`)),
    );
    for (let at = 0; at < trades.length;) {
      const some = trades.slice(at, at + random.between(1, BATCH_MAX));
      at += some.length;
      // Pushes of one symbol are sequential, those of several symbols concurrent.
      const isSplit = random.chance(0.3);
      const parts = isSplit
        ? names.map((name) => some.filter((one) => one.symbol === name))
        : [some];
      await Promise.all(parts.map((part) => push(server, part)));
    }
    const due = trades.filter(({ symbol }) => symbol !== LATE);
    const ofDue = (messages: readonly Message[]): number =>
      messages.filter(({ symbol }) => symbol !== LATE).length;
    const heard = (): readonly Message[] => deep.flatMap((one) => one.messages());
    await until(() => ofDue(heard()) >= due.length);
    const lastSales = due.filter((one) => !one.isOddLot && !one.isOutsideRegularHours);
    await until(() => ofDue(last.messages()) >= lastSales.length);
    this.trades.push(...heard().map(({ data, symbol }) => ({ symbol, ...(data as object) })));
    this.lasts.push(...last.messages());
    for (const one of [last, ...deep]) await one.close();
    this.#proveLate();
  }

  bars(messages: readonly Message[]): Bars {
    const bars = new Map<string, Message[]>();
    for (const one of messages) {
      if (one['symbol'] === LATE) continue;
      const atMs = Number(one['timestamp'] ?? one['time']);
      const name = `${String(one['symbol'])} ${new Date(atMs - (atMs % 60_000)).toISOString()}`;
      bars.set(name, [...(bars.get(name) ?? []), one]);
    }
    return [...bars].map(([name, some]) => `${name} ${barOf(some)}`).toSorted();
  }

  /** Checks that late trades are never published back in time, and no trade twice. */
  #proveLate(): void {
    const late = this.trades.filter(({ symbol }) => symbol === LATE);
    const times = late.map(({ timestamp }) => Number(timestamp));
    const ids = new Set(late.map(({ tradeId }) => tradeId));
    assert.equal(ids.size, late.length, `${this.#label}: each once`);
    const back = times.findIndex((ms, at) => ms < (times[at - 1] ?? 0));
    assert.equal(back, -1, `${this.#label}: ${times[back]} after ${times[back - 1]}`);
  }
}

function barOf(messages: readonly Message[]): string {
  const prices = messages.map(({ price }) => Number(price));
  const volume = messages.reduce((sum, { size }) => sum + Number(size), 0);
  const [open, close] = [prices.at(0), prices.at(-1)];
  return [open, Math.max(...prices), Math.min(...prices), close, volume, prices.length].join(' ');
}

async function storedBars(server: TestServer, condition: string): Promise<Bars> {
  const sql = `SELECT symbol, date_trunc('minute', time) AS minute,
      first(price ORDER BY time, tradeId) AS open, max(price) AS high, min(price) AS low,
      last(price ORDER BY time, tradeId) AS close, sum(size) AS volume, count(*) AS trades
    FROM TRADES WHERE symbol <> '${LATE}' AND tradeId <> '0' AND ${condition}
    GROUP BY symbol, minute ORDER BY symbol, minute LIMIT 10000`;
  const answer = await send(server, 'GET', `/sql-query/CORE?sqlQuery=${encodeURIComponent(sql)}`);
  assert.equal(answer.status, 200, answer.text);
  const rows = JSON.parse(answer.text) as readonly Message[];
  return rows
    .map(({ close, high, low, minute, open, symbol, trades, volume }) =>
      [symbol, minute, open, high, low, close, volume, trades].join(' '),
    )
    .toSorted();
}
