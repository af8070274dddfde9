// Prices of books that are pushed into CORE: returned, sent as events, corrected, and kept across a start.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { send } from '../../base/client.ts';
import { test } from '../../base/fixtures.ts';
import { startServer, type TestServer } from '../../base/server.ts';
import { openStream, until } from './listening.ts';

/** Thursday, 29 February 2024, two in the afternoon in New York. */
const NOW_MS = Date.parse('2024-02-29T19:00:00Z');
const at = (seconds: number): string => new Date(NOW_MS + seconds * 1_000).toISOString();

let sequence = 0;
const level = (seconds: number, side: string, price: number, size: number, more = {}): object => ({
  symbol: "O'B",
  time: at(seconds),
  sequence: String((sequence += 1)),
  side,
  price,
  size,
  ...more,
});

async function push(server: TestServer, input: string, records: readonly object[]): Promise<void> {
  const answer = await send(server, 'POST', `/record/CORE/${input}?wait=true`, records);
  expect(answer.status, answer.text).toBe(200);
}

async function read(server: TestServer, path: string): Promise<unknown> {
  const { status, text } = await send(server, 'GET', path);
  expect(status, text).toBe(200);
  return JSON.parse(text);
}

interface Side {
  readonly price: number;
  readonly size: number;
}

/** Prices and sizes of both sides, and the best prices. */
async function bookOf(server: TestServer): Promise<readonly unknown[]> {
  const of = "symbols=O'B";
  const books = (await read(server, `/deep/book?${of}`)) as Readonly<
    Record<string, { readonly bids: readonly Side[]; readonly asks: readonly Side[] }>
  >;
  const [top] = (await read(server, `/tops?${of}`)) as readonly Readonly<Record<string, number>>[];
  const { asks = [], bids = [] } = books["O'B"] ?? {};
  const pairs = (side: readonly Side[]) => side.map(({ price, size }) => [price, size]);
  return [pairs(bids), pairs(asks), top?.['bidPrice'], top?.['askPrice']];
}

const waitForBook = async (server: TestServer, expected: readonly unknown[]): Promise<void> => {
  let received: readonly unknown[] = [];
  const isSo = async (): Promise<boolean> =>
    JSON.stringify((received = await bookOf(server))) === JSON.stringify(expected);
  await until(isSo).catch(() => expect(JSON.stringify(received)).toBe(JSON.stringify(expected)));
};

const BIDS = [
  [10, 5],
  [9, 2],
];
const ASKS = [
  [12, 7],
  [13, 1],
];

test('a book of pushes, late, deleted, of another day, and after a start', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-pushed-'));
  const seams = { clock: () => NOW_MS };
  try {
    {
      await using server = await startServer({ folder, seams });
      await push(server, 'BOOK', [
        level(-90_000, 'bid', 1, 1, { isPart: false }),
        level(-100, 'bid', 10, 5),
      ]);
      await waitForBook(server, [[[10, 5]], [], 10, 0]);
      const stream = await openStream(server, "/book?symbols=O'B&nosnapshot=true");
      await push(server, 'BOOK', [
        level(-90, 'BID', 11, 6, { isPart: true }),
        level(-90, 'ask', 12, 7, { isPart: false }),
      ]);
      await waitForBook(server, [
        [
          [11, 6],
          [10, 5],
        ],
        [[12, 7]],
        11,
        12,
      ]);
      await until(() => stream.messages().length > 0);
      expect(stream.messages().length).toBe(1);
      await stream.close();
      // A quote that is older than the book is not the best; a newer one is.
      await push(server, 'QUOTES', [
        { symbol: "O'B", time: at(-95), sequence: '1', bidPrice: 3, askPrice: 4 },
      ]);
      await push(server, 'BOOK', [level(-80, 'bid', 11, 0), level(-85, 'ask', 13, 1)]);
      await push(server, 'BOOK', [level(-89, 'bid', 9, 2)]);
      await waitForBook(server, [BIDS, ASKS, 10, 12]);
      await push(server, 'QUOTES', [
        { symbol: "O'B", time: at(-70), sequence: '2', bidPrice: 10.5, askPrice: 11.5 },
      ]);
      await waitForBook(server, [BIDS, ASKS, 10.5, 11.5]);
      const answer = await send(server, 'DELETE', "/data/CORE/BOOK/O'B/2");
      expect(answer.status, answer.text).toBe(200);
      await waitForBook(server, [BIDS.slice(1), ASKS, 10.5, 11.5]);
    }
    await using again = await startServer({ folder, seams });
    await waitForBook(again, [BIDS.slice(1), ASKS, 10.5, 11.5]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
