// The books of a real capture: stored, shown, played again and restored, each as a second decoder tells them.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStream, until } from '../../api/streams/listening.ts';
import { runHere } from '../../cli/commandHere.ts';
import { normalizeSymbol } from '../../../store/lake/datasets/symbolSpelling.ts';
import { send } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';
import { decoded, type Told } from './oracle.ts';

const FILE = join(import.meta.dirname, '../../../../shared/data/DEEP10.pcap.gz');
const isThere = existsSync(FILE) || process.env['CI'] === 'true';
const real = describe.skipIf(!isThere);

/** Prices of a side that are shown. */
const SHOWN = 100;

type Price = readonly [price: number, size: number];
interface Book {
  readonly bids: readonly Price[];
  readonly asks: readonly Price[];
}

const isLevel = ({ type }: Told): boolean => type === '8' || type === '5';
/** The last one of an event. */
const isChange = (one: Told): boolean => isLevel(one) && (Number(one.rest[0]) & 1) === 1;

/** A symbol's book by the second decoder and nothing else. */
function emptyBook(): { take(one: Told): void; now(): Book } {
  const sides = { 8: new Map<number, number>(), 5: new Map<number, number>() };
  const sorted = (side: Map<number, number>, best: 1 | -1): readonly Price[] =>
    [...side].sort(([one], [other]) => best * (one - other)).slice(0, SHOWN);
  return {
    take: ({ price, size = 0, type }) => {
      const side = sides[type === '8' ? 8 : 5];
      side.delete(Number(price));
      if (size > 0) side.set(Number(price), size);
    },
    now: () => ({ bids: sorted(sides[8], -1), asks: sorted(sides[5], 1) }),
  };
}

/** After each event. */
function booksOf(all: readonly Told[]): readonly Book[] {
  const book = emptyBook();
  return all.filter(isLevel).flatMap((one) => {
    book.take(one);
    return isChange(one) ? [book.now()] : [];
  });
}

/** After all of them. */
function lastBookOf(all: readonly Told[]): Book {
  const book = emptyBook();
  for (const one of all.filter(isLevel)) book.take(one);
  return book.now();
}

const inTime = (one: Told, other: Told): number =>
  Number(one.ns - other.ns) || Number(one.sequence - other.sequence);

interface Level {
  readonly price: number;
  readonly size: number;
}
interface Shown {
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
}

const pricesOf = ({ asks, bids }: Shown): Book => ({
  bids: bids.map(({ price, size }) => [price, size]),
  asks: asks.map(({ price, size }) => [price, size]),
});

let folder = '';
let data = '';
let told: readonly Told[] = [];
let bySymbol: ReadonlyMap<string, readonly Told[]>;
/** Those with most changes first. */
let symbols: readonly string[] = [];
let day = '';
beforeAll(async () => {
  if (!isThere) return;
  folder = await mkdtemp(join(tmpdir(), 'tapedeck-books-'));
  data = join(folder, 'data');
  told = decoded(readFileSync(FILE));
  // The file tells them out of turn: what is stored has the order of its times.
  const ordered = told.toSorted(inTime);
  bySymbol = Map.groupBy(ordered, ({ symbol }) => normalizeSymbol(symbol));
  const changes = (all: readonly Told[]): number => all.filter(isChange).length;
  symbols = [...bySymbol]
    .map(([symbol, all]) => ({ symbol, count: changes(all) }))
    .filter(({ count }) => count > 0)
    .toSorted((one, other) => other.count - one.count)
    .map(({ symbol }) => symbol);
  day = new Date(Number((told.at(-1)?.ns ?? 0n) / 1_000_000n)).toISOString().slice(0, 10);
  // Its tokens are those of the servers of tests.
  await (await startServer({ folder: data })).close();
  const ran = await runHere(['capture', 'import', FILE], {
    env: { TAPEDECK_DATA: data, TAPEDECK_DEMO: 'off', TAPEDECK_LOG: 'silent' },
  });
  assert.equal(ran.code, 0, ran.stderr);
}, 120_000);
afterAll(async () => {
  if (folder !== '') await rm(folder, { recursive: true, force: true });
});

async function ask(server: TestServer, path: string): Promise<unknown> {
  const { status, text } = await send(server, 'GET', path);
  assert.equal(status, 200, text);
  return JSON.parse(text);
}

const shown = async (server: TestServer): Promise<Readonly<Record<string, Shown>>> =>
  (await ask(server, `/deep/book?symbols=${symbols.join()}`)) as Readonly<Record<string, Shown>>;

real('books of a capture', () => {
  test('every change of a price is stored, and the books stand as they stood', async () => {
    await using server = await startServer({ folder: data });
    const sql = (query: string): Promise<unknown> =>
      ask(server, `/sql-query/CORE?sqlQuery=${encodeURIComponent(query)}`);
    const levels = told.filter(isLevel);
    expect(await sql('SELECT count(*) AS n, sum(size) AS shares FROM BOOK')).toEqual([
      { n: levels.length, shares: levels.reduce((sum, { size = 0 }) => sum + size, 0) },
    ]);
    const books = await shown(server);
    for (const symbol of symbols) {
      const book = books[symbol];
      assert.ok(book !== undefined, `${symbol} of ${Object.keys(books).join()}`);
      expect([symbol, pricesOf(book)]).toEqual([symbol, lastBookOf(bySymbol.get(symbol) ?? [])]);
    }
  });

  test('the same before and after a start, and its best offers are the tops', async () => {
    const states = async (): Promise<readonly unknown[]> => {
      await using server = await startServer({ folder: data });
      const books = await shown(server);
      const tops = (await ask(server, `/tops?symbols=${symbols.join()}`)) as readonly {
        readonly symbol: string;
        readonly bidPrice: number;
        readonly askPrice: number;
      }[];
      for (const { askPrice, bidPrice, symbol } of tops) {
        const { asks = [], bids = [] } = books[symbol] ?? {};
        expect([symbol, bidPrice, askPrice]).toEqual([
          symbol,
          bids[0]?.price ?? 0,
          asks[0]?.price ?? 0,
        ]);
      }
      return [books, tops.map((top) => ({ ...top, seq: 0 }))];
    };
    expect(await states()).toEqual(await states());
  });

  test('played again: each book that there was, one after the other', async () => {
    await using server = await startServer({ folder: data });
    const [symbol = ''] = symbols;
    const body = { symbols: [symbol], from: day, speed: 'max', paused: true };
    const { status, text } = await send(server, 'POST', '/replays', body);
    assert.equal(status, 200, text);
    const { replayId } = JSON.parse(text) as { readonly replayId: string };
    const query = `symbols=${symbol}&nosnapshot=true`;
    const stream = await openStream(server, `/replays/${replayId}/book?${query}`);
    await send(server, 'PATCH', `/replays/${replayId}`, { state: 'playing' });
    const books = booksOf(bySymbol.get(symbol) ?? []);
    expect(books.length).toBeGreaterThan(500);
    await until(() => stream.text().split('\r\n\r\n').length > books.length, 60_000);
    const heard = stream.messages() as unknown as readonly { readonly data: Shown }[];
    for (const [at, { data: book }] of heard.entries()) {
      expect([at, pricesOf(book)]).toEqual([at, books[at]]);
    }
    await stream.close();
  });
});
