// Answers the latest quote, price and book of a crypto currency (INTERFACE.md 1 "crypto").
import { instantIn, listIn, type Row, textIn } from '../../../market/derive/values.ts';
import { newest } from '../../../market/types/typeRequest.ts';
import { EXAMPLE_SYMBOL, observeRow } from '../../../market/types/observed.ts';
import type { Shape } from '../../../market/types/shape.ts';
import { pascal } from '../../../market/types/shapes.ts';
import { CORE, type Dataset } from '../../../store/lake/datasets/datasets.ts';
import { Failure } from '../../../store/base/failure.ts';
import { findDataset } from '../../rights/access.ts';
import { type MarketServices, planNeeds, runReadPlan } from '../inputReads.ts';
import { currentMoment } from '../../series/moments.ts';
import { answerFixed } from '../reference/fixedPrice.ts';
import type { Answer } from '../../request/answer.ts';
import type { ReadRequest } from '../../request/readRequest.ts';

type Input = 'CRYPTO_QUOTES' | 'CRYPTO_BOOKS';

interface Part {
  readonly input: Input;
  readonly usageKey: string;
  readonly render: (symbol: string, row: Row) => object;
}

const valueIn = (row: Row, name: string): unknown => row[name] ?? null;

const PARTS: ReadonlyMap<string, Part> = new Map<string, Part>([
  ['quote', { input: 'CRYPTO_QUOTES', usageKey: 'CRYPTO_QUOTE', render: toCryptoQuote }],
  [
    'price',
    {
      input: 'CRYPTO_QUOTES',
      usageKey: 'CRYPTO_PRICE',
      render: (symbol, row) => ({
        price: toText(valueIn(row, 'latestPrice')),
        symbol,
      }),
    },
  ],
  ['book', { input: 'CRYPTO_BOOKS', usageKey: 'CRYPTO_BOOK', render: toCryptoBook }],
]);

/** @throws Failure NotFound for another part, UnknownSymbol. */
export async function answerCrypto(call: ReadRequest, services: MarketServices): Promise<Answer> {
  const part = PARTS.get((call.path['part'] ?? '').toLowerCase());
  if (part === undefined) throw new Failure('NotFound');
  const symbol = (call.path['symbol'] ?? '').trim().toUpperCase();
  const { input, render, usageKey } = part;
  return answerFixed(call, services, { usageKey, weight: 1 }, async () => {
    const row = await readLatest(input, symbol, call, services);
    if (row === undefined) throw new Failure('UnknownSymbol');
    return render(symbol, row);
  });
}

async function readLatest(
  input: Input,
  symbol: string,
  call: ReadRequest,
  services: MarketServices,
): Promise<Row | undefined> {
  if (services.lake.directory.dataset(CORE, input) === undefined) return undefined;
  const dataset: Dataset = findDataset(call.caller, CORE, input, services.lake);
  const need = newest(input, symbol, 1);
  const bare = { ...call, path: {}, query: {} };
  const inputs = new Map([[input, dataset] as const]);
  const planned = await planNeeds(bare, services, inputs, [need], currentMoment(services));
  return (await runReadPlan(planned, services, bare))(need).at(-1);
}

/** Crypto prices are often texts: a number is returned as text too. */
const toText = (value: unknown): unknown => (typeof value === 'number' ? String(value) : value);

export function toCryptoQuote(symbol: string, row: Row): object {
  const updatedMs = instantIn(row, 'latestUpdate');
  const own = (name: string): unknown => valueIn(row, name);
  return {
    symbol,
    primaryExchange: textIn(row, 'primaryExchange'),
    sector: 'cryptocurrency',
    calculationPrice: 'realtime',
    latestPrice: own('latestPrice'),
    latestSource: 'Real time price',
    latestUpdate: Number.isNaN(updatedMs) ? null : updatedMs,
    latestVolume: own('latestVolume'),
    bidPrice: own('bidPrice'),
    bidSize: own('bidSize'),
    askPrice: own('askPrice'),
    askSize: own('askSize'),
    high: own('high'),
    low: own('low'),
    previousClose: own('previousClose'),
  };
}

export function toCryptoBook(symbol: string, row: Row): object {
  return { symbol, bids: listIn(row['bids'] ?? []), asks: listIn(row['asks'] ?? []) };
}

/** The shape of each part, for the OpenAPI document. */
export const CRYPTO_SHAPES: ReadonlyMap<string, Shape> = new Map(
  [...PARTS].map(([name, { input, render }]) => {
    const row = observeRow(`Crypto${pascal(name)}`, (rows) =>
      rows(input).flatMap((one) => [
        render(EXAMPLE_SYMBOL, one),
        render(EXAMPLE_SYMBOL, asNumbers(one)),
      ]),
    );
    return [name, row];
  }),
);

/** Numbers that are texts may be loaded as numbers. */
function asNumbers(row: Row): Row {
  const members = Object.entries(row).map(([name, value]) => {
    const text = typeof value === 'string' ? value.replaceAll(/"([\d.]+)"/g, '$1') : '';
    return [name, /^[\d.]+$/.test(text) ? Number(text) : text];
  });
  return Object.fromEntries(members) as Row;
}
