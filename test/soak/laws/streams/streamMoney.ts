// The cost of streams: connections are opened, aborted, resumed and ended at random, over ticks and a clock
// that settles; sometimes the budget runs out. The charges equal the messages written to sockets, and those
// that an uninterrupted reader received; they never exceed what the account may spend.
import assert from 'node:assert/strict';
import { openStream, until } from '../../../api/streams/listening.ts';
import { seeded } from '../../crash/rounds/seeded.ts';
import { startServer, type TestServer } from '../../../base/server.ts';
import type { Tick } from '../../../../market/live/tick.ts';

const SYMBOLS = ['AAA', 'BBB', 'CCC', 'DDD', 'EEE'];
const STREAMS = ['last', 'tops', 'deep', 'stocksUS', 'stocksUS1Second'];
const OPEN_MAX = 160;

type Client = Awaited<ReturnType<typeof openStream>>;

interface Listener {
  readonly client: Client;
  readonly path: string;
  readonly charged: () => number;
  isCut: boolean;
}

/** Opens `count` connections; returns the charged messages and the aborted connections. */
export async function streamMoneyLaw(count: number, seed: number): Promise<string> {
  const random = seeded(seed);
  let nowMs = Date.parse('2024-02-29T17:00:00Z');
  await using server = await startServer({ seams: { clock: () => nowMs, watch: false } });
  const { accounts, ledger, streams } = server.tapedeck.services;
  const owner = server.tapedeck.accountId;
  const budget = random.chance(0.5) ? random.between(count * 5, count * 60) : undefined;
  await accounts.changeAccount(owner, { tier: 'scale', ...(budget && { budget }) });
  const listeners: Listener[] = [];
  const open = (): readonly Listener[] =>
    listeners.filter(({ client, isCut }) => !isCut && !client.isEnded());
  const ticks = tickingOf(random);
  let [opened, refused] = [0, 0];
  while (opened < count) {
    const act = random.between(0, 9);
    if (act < 3 && open().length < OPEN_MAX) {
      opened += 1;
      const listener = await connected(server, listeners, random);
      if (listener === undefined) refused += 1;
      else listeners.push(listener);
    } else if (act < 7) {
      for (const tick of ticks(nowMs)) streams.board.apply(tick);
    } else if (act < 8) {
      nowMs += random.between(1, 12_000);
    } else if (open().length > 0) {
      const one = pick(open(), random);
      one.isCut = true;
      await one.client.close();
    }
    if (random.chance(0.2)) await pause(random.between(1, 30));
    const balance = ledger.balance(owner);
    const { used } = balance;
    assert.ok(used >= 0 && balance.held >= 0, `seed ${seed}: ${JSON.stringify(balance)}`);
    if (budget !== undefined) assert.ok(used <= budget, `seed ${seed}: ${used} of ${budget}`);
  }
  streams.open.close();
  await until(() => open().length === 0);
  const charged = listeners.reduce((sum, one) => sum + one.charged(), 0);
  for (const one of listeners) provePrice(one, seed);
  await ledger.flush();
  assert.deepEqual(
    ledger.balance(owner),
    { held: 0, used: charged },
    `seed ${seed}: messages charged`,
  );
  const cut = listeners.filter(({ isCut }) => isCut).length;
  const ofBudget = budget === undefined ? '' : ` of ${budget}`;
  return `${charged} messages${ofBudget}, ${opened} opened, ${cut} cut, ${refused} refused`;
}

type Random = ReturnType<typeof seeded>;

function pick<T>(values: readonly T[], random: Random): T {
  const value = values[random.between(0, values.length - 1)];
  assert.ok(value !== undefined);
  return value;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Returns a function that generates bursts of ticks, each at a new price. */
function tickingOf(random: Random): (timeMs: number) => readonly Tick[] {
  let price = 0;
  return (timeMs) =>
    Array.from({ length: random.between(1, 40) }, (): Tick => {
      price += 1;
      const of = { symbol: pick(SYMBOLS, random), timeMs };
      const sizes = { bidSize: 100, askSize: 100 };
      return random.chance(0.5)
        ? { ...of, kind: 'trade', price, size: 100, tradeId: String(price) }
        : { ...of, kind: 'quote', bidPrice: price, askPrice: price + 1, ...sizes };
    });
}

/** Opens a new connection, or resumes an aborted one; undefined if it was refused. */
async function connected(
  server: TestServer,
  listeners: readonly Listener[],
  random: Random,
): Promise<Listener | undefined> {
  const { streams } = server.tapedeck.services;
  const stream = pick(STREAMS, random);
  const some = SYMBOLS.slice(0, random.between(1, SYMBOLS.length)).join();
  const symbols = stream === 'deep' ? pick(SYMBOLS, random) : some;
  const flags = random.chance(0.5) ? '&ids=true' : random.chance(0.3) ? '&nosnapshot=true' : '';
  const before = random.chance(0.3) ? listeners.find(({ isCut }) => isCut) : undefined;
  const path = before?.path ?? `/${stream}?symbols=${symbols}${flags}`;
  const id = /id: (\S+)\r\n(?![^]*id: )/.exec(before?.client.text() ?? '')?.[1];
  const client = await openStream(server, path, id === undefined ? {} : { 'last-event-id': id });
  if (client.status !== 200) return undefined;
  const { accountId } = server.tapedeck;
  const { connection } =
    streams.open.find(String(client.headers['svccloud-stream-id']), accountId) ?? {};
  // A connection that ended before it was found has received all messages that were charged.
  const charged = (): number => connection?.messages ?? framesOf(client);
  return { client, path, charged, isCut: false };
}

/** Compares charge and messages: an aborted reader may be charged for messages in flight. */
function provePrice({ charged, client, isCut, path }: Listener, seed: number): void {
  const label = `seed ${seed}: ${path}`;
  if (isCut) assert.ok(framesOf(client) <= charged(), label);
  else assert.equal(framesOf(client), charged(), label);
}

/** Number of complete messages that a reader received. */
const framesOf = ({ text }: Client): number =>
  (text().match(/data: \[.*?\]\r\n\r\n/g) ?? []).length;
