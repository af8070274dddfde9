// Generates trades, quotes and companies, the same in each run: all values are derived from the record
// number. They are loaded through the real pipeline.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Tapedeck } from '../../app/main.ts';
import { bareDuckDb } from '../base/measure.ts';
import { loadFile, symbolOf } from '../base/stored.ts';

/** Number of symbols, from `S0000`; each has equally many trades and quotes on each day. */
const SYMBOLS = 500;
/** Days from Monday, 4 March 2024, without weekends. */
const DAYS = 20;
/** Number of symbols with a company record. */
const COMPANIES = 480;

const OPEN_US = Date.UTC(2024, 2, 4, 9, 30) * 1000;
const SESSION_US = 23_400_000_000;
const DAY_US = 86_400_000_000;

/** Names of the datasets. */
export const DATASETS = ['TRADES', 'QUOTES', 'COMPANIES'] as const;

export const marketSymbol = (at: number): string => symbolOf(at % SYMBOLS);

/** Half of `rows` are trades, half are quotes. */
export async function fillMarket(tapedeck: Tapedeck, folder: string, rows: number): Promise<void> {
  const perDay = Math.max(1, Math.round(rows / 2 / SYMBOLS / DAYS));
  const mapping = { key: 'symbol', date: 'time' };
  await load(tapedeck, folder, 'TRADES', trades(perDay), mapping);
  await load(tapedeck, folder, 'QUOTES', quotes(perDay), mapping);
  await load(tapedeck, folder, 'COMPANIES', companies, { key: 'symbol' });
}

async function load(
  tapedeck: Tapedeck,
  folder: string,
  dataset: string,
  select: string,
  mapping: { readonly key: string; readonly date?: string },
): Promise<void> {
  const path = join(folder, `${dataset}.parquet`);
  await bareDuckDb(`COPY (${select}) TO '${path}' (FORMAT parquet)`);
  await loadFile(tapedeck, path, dataset, mapping);
  await rm(path);
}

/** `s` is a symbol, `n` the number of its record, `h` a pseudo-random number. */
const records = (perDay: number, salt: string): string => {
  const day = `(n // ${perDay})`;
  const step = Math.floor(SESSION_US / perDay);
  const since = `(${day} // 5 * 7 + ${day} % 5) * ${DAY_US} + n % ${perDay} * ${step}`;
  return `(SELECT 'S' || lpad(s::VARCHAR, 4, '0') AS symbol, h,
      make_timestamp((${OPEN_US} + ${since} + (h % ${step})::BIGINT)::BIGINT) AS time,
      (20 + s * 37 % 400) * (1 + 0.05 * sin(n / ${perDay * 3}.0 + s) + 0.01 * sin(n * 0.37 + s))
        + ((h // 256)::BIGINT % 100 - 50) / 1000 AS mid
    FROM (SELECT i % ${SYMBOLS} AS s, i // ${SYMBOLS} AS n, hash(i, '${salt}') AS h
      FROM range(${SYMBOLS * DAYS * perDay}) t(i)))`;
};

const venue = `CASE (h // 16)::BIGINT % 5 WHEN 0 THEN 'XNAS' WHEN 1 THEN 'XNYS' WHEN 2 THEN 'ARCX'
  WHEN 3 THEN 'BATS' ELSE 'IEXG' END AS venue`;

const trades = (perDay: number): string => `
  SELECT symbol, time, round(mid, 2) AS price, (1 + h % 500)::BIGINT AS size, ${venue},
    CASE WHEN h % 10 = 0 THEN 'O' ELSE 'R' END AS condition
  FROM ${records(perDay, 'trade')}`;

const quotes = (perDay: number): string => `
  SELECT symbol, time, round(mid, 2) AS bid, round(mid + 0.01 * (1 + h % 5)::BIGINT, 2) AS ask,
    (100 * (1 + h % 20))::BIGINT AS bid_size, (100 * (1 + h % 19))::BIGINT AS ask_size, ${venue}
  FROM ${records(perDay, 'quote')}`;

const companies = `
  SELECT 'S' || lpad(s::VARCHAR, 4, '0') AS symbol, 'Company ' || s AS name,
    'Sector ' || s % 11 AS sector, CASE WHEN s % 4 = 0 THEN 'CA' ELSE 'US' END AS country,
    (1000000 * (1 + s * 7919 % 997))::BIGINT AS shares,
    (DATE '1980-01-01' + (s * 31)::INTEGER)::DATE AS listed
  FROM range(${COMPANIES}) t(s)`;
