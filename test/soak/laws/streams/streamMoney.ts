// What streams cost: connections are opened, cut off, taken up again and ended by chance, over ticks and
// a clock that settles; now and then the budget ends in the middle. What was written to sockets is what is
// charged, to the message, and what a reader that stayed has read; never more than the account may spend.
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

/** Opens `count` connections; messages that were charged and connections that were cut. */
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
    const { held, used } = ledger.balance(owner);
    assert.ok(used >= 0 && held >= 0, `seed ${seed}: ${used} used, ${held} held`);
    if (budget !== undefined) assert.ok(used <= budget, `seed ${seed}: ${used} of ${budget}`);
  }
  streams.open.close();
  await until(() => open().length === 0);
  const charged = listeners.reduce((sum, one) => sum + one.charged(), 0);
  for (const one of listeners) provePrice(one, seed);
  await ledger.flush();
  const { held, used } = ledger.balance(owner);
  assert.deepEqual([held, used], [0, charged], `seed ${seed}: messages charged`);
  const cut = listeners.filter(({ isCut }) => isCut).length;
  const ofBudget = budget === undefined ? '' : ` of ${budget}`;
  return `${charged} messages${ofBudget}, ${opened} opened, ${cut} cut, ${refused} refused`;
}

type Random = ReturnType<typeof seeded>;

function pick<T>(values: readonly T[], random: Random): T {
  const found = values[random.between(0, values.length - 1)];
  assert.ok(found !== undefined);
  return found;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Bursts of ticks, each at another price. */
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

/** A new connection, or one that was cut taken up again; undefined where it was refused. */
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
  // One that ended before it was found has read all that it was charged.
  const charged = (): number => connection?.messages ?? framesOf(client);
  return { client, path, charged, isCut: false };
}

/** Who was cut off may have paid for what was on its way. */
function provePrice({ charged, client, isCut, path }: Listener, seed: number): void {
  const told = `seed ${seed}: ${path}`;
  if (isCut) assert.ok(framesOf(client) <= charged(), told);
  else assert.equal(framesOf(client), charged(), told);
}

/** Messages that a reader has whole. */
const framesOf = ({ text }: Client): number =>
  (text().match(/data: \[.*?\]\r\n\r\n/g) ?? []).length;
