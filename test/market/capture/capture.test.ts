// Real captures of an exchange against a second decoder; corrupt files; and a capture imported into CORE.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CaptureSummary, readCapture, type Place } from '../../../market/capture/capture.ts';
import type { Tick } from '../../../market/live/tick.ts';
import { get } from '../../base/client.ts';
import { runHere } from '../../cli/commandHere.ts';
import { seeded } from '../../soak/crash/rounds/seeded.ts';
import { seedsOf } from '../../base/seeds.ts';
import { startServer } from '../../base/server.ts';
import { decoded, type CapturedMessage } from './oracle.ts';

const DATA = join(import.meta.dirname, '..', '..', '..', '..', 'shared', 'data');
const FILES = ['TOPS16.pcapng.gz', 'DEEP10.pcap.gz'] as const;
const isThere = FILES.every((name) => existsSync(join(DATA, name)));
const real = describe.skipIf(!isThere && process.env['CI'] !== 'true');

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tapedeck-captures-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

interface Read {
  readonly summary: CaptureSummary;
  readonly ticks: readonly (readonly [Tick, Place])[];
}

async function readAll(path: string): Promise<Read> {
  const ticks: (readonly [Tick, Place])[] = [];
  const summary = await readCapture(path, (tick, place) => ticks.push([tick, place]));
  return { summary, ticks };
}

/** A line of the members of a tick that both decoders read. */
function lineOf(tick: Tick, { nanoseconds, sequence }: Place): string {
  const ns = BigInt(tick.timeMs) * 1_000_000n + BigInt(nanoseconds);
  const of = `${tick.symbol} ${ns} ${sequence}`;
  if (tick.kind === 'quote') {
    return `Q ${of} ${tick.bidSize} ${tick.bidPrice} ${tick.askPrice} ${tick.askSize}`;
  }
  if (tick.kind === 'level') {
    return `${tick.side} ${of} ${tick.price} ${tick.size} ${tick.isPart === true ? 0 : 1}`;
  }
  if (tick.kind === 'state') return `state ${of}`;
  const flags =
    (tick.isISO === true ? 0x80 : 0) +
    (tick.isOutsideRegularHours === true ? 0x40 : 0) +
    (tick.isOddLot === true ? 0x20 : 0) +
    (tick.isTradeThroughExempt === true ? 0x10 : 0) +
    (tick.isSinglePriceCross === true ? 0x08 : 0);
  return `${tick.kind} ${of} ${tick.price} ${tick.size} ${tick.tradeId} ${flags}`;
}

const KINDS: Readonly<Record<string, string>> = {
  T: 'trade',
  B: 'break',
  8: 'bid',
  5: 'ask',
  Q: 'Q',
};

function formatMessage({ ns, price, rest, sequence, size, symbol, type }: CapturedMessage): string {
  const of = `${KINDS[type] ?? 'state'} ${symbol} ${ns} ${sequence}`;
  if (type === 'Q') return `${of} ${rest.join(' ')}`;
  return price === undefined ? of : `${of} ${price} ${size} ${rest.join(' ')}`;
}

real('captures of the exchange', () => {
  for (const [name, messages] of [
    ['TOPS16.pcapng.gz', 57_674],
    ['DEEP10.pcap.gz', 391_999],
  ] as const) {
    test(`${name}: each message equals that of a second decoder`, async () => {
      const { summary, ticks } = await readAll(join(DATA, name));
      const decodedMessages = decoded(readFileSync(join(DATA, name)));
      expect(summary.messages).toBe(messages);
      expect(decodedMessages.length).toBe(messages);
      const counts: Record<string, number> = {};
      for (const { type } of decodedMessages) counts[type] = (counts[type] ?? 0) + 1;
      expect(summary.types).toEqual(counts);
      const theirs = decodedMessages.filter(({ type }) => type !== 'D').map(formatMessage);
      assert.equal(ticks.length, theirs.length);
      for (const [at, [tick, place]] of ticks.entries()) {
        if (lineOf(tick, place) !== theirs[at]) assert.equal(lineOf(tick, place), theirs[at]);
      }
    });
  }
});

real('a capture with its faults', () => {
  test('a truncated tail is reported, and the messages before it are read', async () => {
    const { summary } = await readAll(join(DATA, 'DEEP10.pcap.gz'));
    expect(summary.cut).toMatch(/^the last \d+ bytes are a part of a packet$/);
    expect([summary.missing, summary.repeated, summary.resets]).toEqual([0, 0, 11]);
  });

  test('a capture becomes prices, a chart and a stream by one command', async () => {
    const data = join(folder, 'data');
    // The folder gets the tokens of test servers.
    await (await startServer({ folder: data })).close();
    const ran = await runHere(['capture', 'import', join(DATA, 'TOPS16.pcapng.gz')], {
      env: { TAPEDECK_DATA: data, TAPEDECK_DEMO: 'off', TAPEDECK_LOG: 'silent' },
    });
    expect(ran.code, ran.stderr).toBe(0);
    await using server = await startServer({ folder: data });
    const read = async (path: string): Promise<unknown> => (await get(server, path)).json();
    const sql = (query: string): Promise<unknown> =>
      read(`/sql-query/CORE?sqlQuery=${encodeURIComponent(query)}`);
    const [counted] = (await sql(
      'SELECT count(*) AS n, sum(size) AS shares FROM TRADES WHERE isOutsideRegularHours = false',
    )) as readonly { readonly n: number; readonly shares: number }[];
    const [bars] = (await sql(
      'SELECT sum(numberOfTrades) AS n, sum(volume) AS shares FROM INTRADAY_PRICES',
    )) as readonly object[];
    // Of 6,390 trades three were broken.
    expect(counted?.n).toBeGreaterThan(4_000);
    expect(bars, 'bars are made of the stored trades').toEqual(counted);
    expect(await sql('SELECT count(*) AS n FROM TRADES')).toEqual([{ n: 6_387 }]);
    const [{ symbol } = { symbol: '' }] = (await sql(
      'SELECT symbol, sum(size) AS v FROM TRADES GROUP BY symbol ORDER BY v DESC LIMIT 1',
    )) as readonly { readonly symbol: string }[];
    expect(await read(`/stock/${symbol}/chart/max`)).toHaveLength(1);
    expect(await read(`/last?symbols=${symbol}`)).toMatchObject([{ symbol }]);
  });
});

real('a capture whose bytes were changed', () => {
  test('is read to its end or to a reported fault, with any changes', async (t) => {
    const whole = gunzipSync(readFileSync(join(DATA, 'TOPS16.pcapng.gz'))).subarray(0, 400_000);
    for (const seed of seedsOf(t)) {
      const random = seeded(seed);
      for (let round = 0; round < 40; round += 1) {
        const bytes = Buffer.from(whole.subarray(0, random.between(0, whole.length)));
        for (let flips = random.between(0, 30); flips > 0 && bytes.length > 0; flips -= 1) {
          bytes[random.between(0, bytes.length - 1)] = random.between(0, 255);
        }
        const path = join(folder, 'odd');
        await writeFile(path, bytes);
        const { summary, ticks } = await readAll(path);
        assert.ok(ticks.length <= summary.messages, `seed ${seed}, round ${round}`);
        if (summary.packets === 0) assert.ok(summary.cut !== undefined || bytes.length < 400);
      }
    }
  });
});

describe('files that are not captures', () => {
  const NONE: readonly (readonly [what: string, bytes: Buffer])[] = [
    ['nothing', Buffer.alloc(0)],
    ['a text', Buffer.from('symbol,date,close\nA,2024-01-02,1\n'.repeat(100))],
    ['zeros', Buffer.alloc(100_000)],
    ['a gzip that is none', Buffer.concat([Buffer.from([0x1f, 0x8b]), Buffer.alloc(1_000, 7)])],
  ];
  for (const [what, bytes] of NONE) {
    test(what, async () => {
      const path = join(folder, 'none');
      await writeFile(path, bytes);
      const { summary } = await readAll(path);
      expect(summary.messages).toBe(0);
      expect(summary.cut).toMatch(/no capture|gzip/);
    });
  }

  test('a packet with a length above the maximum', async () => {
    const bytes = Buffer.alloc(100);
    bytes.writeUInt32LE(0xa1b2c3d4, 0);
    bytes.writeUInt32LE(0xffff_fff0, 24 + 8);
    const path = join(folder, 'lies');
    await writeFile(path, bytes);
    expect((await readAll(path)).summary.cut).toMatch(/an invalid length of 4294967280 bytes/);
  });
});
