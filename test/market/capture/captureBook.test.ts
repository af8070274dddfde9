// The books of a real capture: stored, shown, replayed and restored, each as a second decoder reads them.
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
import { decoded, type CapturedMessage } from './oracle.ts';

const FILE = join(import.meta.dirname, '../../../../shared/data/DEEP10.pcap.gz');
const isThere = existsSync(FILE) || process.env['CI'] === 'true';
const real = describe.skipIf(!isThere);

/** Number of prices of a side that are shown. */
const DISPLAY_SIZE = 100;

type Price = readonly [price: number, size: number];
interface Book {
  readonly bids: readonly Price[];
  readonly asks: readonly Price[];
}

const isLevel = ({ type }: CapturedMessage): boolean => type === '8' || type === '5';
/** The last message of an event. */
const isChange = (one: CapturedMessage): boolean => isLevel(one) && (Number(one.rest[0]) & 1) === 1;

/** A symbol's book, built only from the second decoder. */
function emptyBook(): { take(one: CapturedMessage): void; now(): Book } {
  const sides = { 8: new Map<number, number>(), 5: new Map<number, number>() };
  const sorted = (side: Map<number, number>, best: 1 | -1): readonly Price[] =>
    [...side].sort(([one], [other]) => best * (one - other)).slice(0, DISPLAY_SIZE);
  return {
    take: ({ price, size = 0, type }) => {
      const side = sides[type === '8' ? 8 : 5];
      side.delete(Number(price));
      if (size > 0) side.set(Number(price), size);
    },
    now: () => ({ bids: sorted(sides[8], -1), asks: sorted(sides[5], 1) }),
  };
}

/** The book after each event. */
function booksOf(all: readonly CapturedMessage[]): readonly Book[] {
  const book = emptyBook();
  return all.filter(isLevel).flatMap((one) => {
    book.take(one);
    return isChange(one) ? [book.now()] : [];
  });
}

/** The book after all events. */
function lastBookOf(all: readonly CapturedMessage[]): Book {
  const book = emptyBook();
  for (const one of all.filter(isLevel)) book.take(one);
  return book.now();
}

const inTime = (one: CapturedMessage, other: CapturedMessage): number =>
  Number(one.ns - other.ns) || Number(one.sequence - other.sequence);

interface Level {
  readonly price: number;
  readonly size: number;
}
interface BookView {
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
}

const pricesOf = ({ asks, bids }: BookView): Book => ({
  bids: bids.map(({ price, size }) => [price, size]),
  asks: asks.map(({ price, size }) => [price, size]),
});

let folder = '';
let data = '';
let messages: readonly CapturedMessage[] = [];
let bySymbol: ReadonlyMap<string, readonly CapturedMessage[]>;
/** Symbols with the most changes first. */
let symbols: readonly string[] = [];
let day = '';
beforeAll(async () => {
  if (!isThere) return;
  folder = await mkdtemp(join(tmpdir(), 'tapedeck-books-'));
  data = join(folder, 'data');
  messages = decoded(readFileSync(FILE));
  // The file is not in order of time; stored records are.
  const ordered = messages.toSorted(inTime);
  bySymbol = Map.groupBy(ordered, ({ symbol }) => normalizeSymbol(symbol));
  const changes = (all: readonly CapturedMessage[]): number => all.filter(isChange).length;
  symbols = [...bySymbol]
    .map(([symbol, all]) => ({ symbol, count: changes(all) }))
    .filter(({ count }) => count > 0)
    .toSorted((one, other) => other.count - one.count)
    .map(({ symbol }) => symbol);
  day = new Date(Number((messages.at(-1)?.ns ?? 0n) / 1_000_000n)).toISOString().slice(0, 10);
  // The folder gets the tokens of test servers.
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

const readBooks = async (server: TestServer): Promise<Readonly<Record<string, BookView>>> =>
  (await ask(server, `/deep/book?symbols=${symbols.join()}`)) as Readonly<Record<string, BookView>>;

real('books of a capture', () => {
  test('every change of a price is stored, and the books are those of the file', async () => {
    await using server = await startServer({ folder: data });
    const sql = (query: string): Promise<unknown> =>
      ask(server, `/sql-query/CORE?sqlQuery=${encodeURIComponent(query)}`);
    const levels = messages.filter(isLevel);
    expect(await sql('SELECT count(*) AS n, sum(size) AS shares FROM BOOK')).toEqual([
      { n: levels.length, shares: levels.reduce((sum, { size = 0 }) => sum + size, 0) },
    ]);
    const books = await readBooks(server);
    for (const symbol of symbols) {
      const book = books[symbol];
      assert.ok(book !== undefined, `${symbol} of ${Object.keys(books).join()}`);
      expect([symbol, pricesOf(book)]).toEqual([symbol, lastBookOf(bySymbol.get(symbol) ?? [])]);
    }
  });

  test('books are the same before and after a restart, and their best offers are the tops', async () => {
    const states = async (): Promise<readonly unknown[]> => {
      await using server = await startServer({ folder: data });
      const books = await readBooks(server);
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

  test('a replay sends each book in order', async () => {
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
    const heard = stream.messages() as unknown as readonly { readonly data: BookView }[];
    for (const [at, { data: book }] of heard.entries()) {
      expect([at, pricesOf(book)]).toEqual([at, books[at]]);
    }
    await stream.close();
  });
});
