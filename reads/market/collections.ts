// Answers parts of the market (INTERFACE.md 1 "market"): lists, collections by sector or tag, the performance
// of sectors, and the earnings of today.
import { rankSymbols, sectorsOf } from '../../market/board/board.ts';
import { dayIn, listIn, type Row, textIn } from '../../market/derive/values.ts';
import { between, allRecords } from '../../market/types/typeRequest.ts';
import { Failure } from '../../store/base/failure.ts';
import { numberOf, refuse, textOf } from '../request/parameters.ts';
import { type MarketRequest, readBoard, computeQuotes } from './marketBoard.ts';

/** Quotes of a list by default. */
export const LIST_DEFAULT = 10;
/** The kind of collection that is one of the lists, with the length of a list. */
export const LIST = 'list';
/** Maximum quotes of one collection. */
export const COLLECTION_MAX = 500;

/** Computes quotes of the first symbols of a list. */
export async function computeListQuotes(request: MarketRequest): Promise<readonly object[]> {
  return computeNamedListQuotes(request, request.call.path['part'] ?? '');
}

async function computeNamedListQuotes(
  request: MarketRequest,
  name: string,
): Promise<readonly object[]> {
  const limit = numberOf(request.call.query, 'listLimit') ?? LIST_DEFAULT;
  const symbols = rankSymbols(name, await readBoard(request), limit);
  if (symbols === undefined) throw new Failure('NotFound');
  return computeQuotes(request, symbols);
}

const COMPANIES = allRecords('COMPANY', '');

/** Reads the latest record of each company, by symbol. */
async function readCompanies({ read }: MarketRequest): Promise<ReadonlyMap<string, Row>> {
  const rows = (await read([COMPANIES]))(COMPANIES);
  return new Map(rows.map((row) => [textIn(row, 'symbol')?.toUpperCase() ?? '', row]));
}

/** Computes quotes of a sector, a tag or a list, named by `collectionName`. */
export async function computeCollectionQuotes(request: MarketRequest): Promise<readonly object[]> {
  const { call } = request;
  const kind = (call.path['part'] ?? '').toLowerCase();
  const name = textOf(call.query, 'collectionName')?.trim();
  if (!COLLECTIONS.has(kind)) throw new Failure('NotFound');
  if (name === undefined || name === '') return refuse('collectionName', 'is required');
  if (kind === LIST) return computeNamedListQuotes(request, name);
  const lowerName = name.toLowerCase();
  const isMember = (row: Row): boolean => {
    if (kind === 'sector') return textIn(row, 'sector')?.toLowerCase() === lowerName;
    const tags = listIn(row['tags']);
    return Array.isArray(tags) && tags.some((tag) => String(tag).toLowerCase() === lowerName);
  };
  const companies = [...(await readCompanies(request))].filter(([, row]) => isMember(row));
  const symbols = companies.map(([symbol]) => symbol).sort();
  const limit = numberOf(call.query, 'listLimit') ?? COLLECTION_MAX;
  return computeQuotes(request, symbols.slice(0, limit));
}

export const COLLECTION_KINDS = ['sector', 'tag', LIST];
const COLLECTIONS: ReadonlySet<string> = new Set(COLLECTION_KINDS);

/** Computes the performance of each sector on the last day, weighted by market capitalization. */
export async function computeSectorPerformance(request: MarketRequest): Promise<readonly object[]> {
  const companies = await readCompanies(request);
  return sectorsOf(await readBoard(request), companies, request.typeRequest.today);
}

/** Members of the answer by the announce time of an earnings record. */
const TIMES = [
  ['bto', 'BTO'],
  ['amc', 'AMC'],
] as const;

/** Lists the earnings of today before the opening, after the close, and at other times, each with a quote. */
export async function listTodayEarnings(request: MarketRequest): Promise<object> {
  const { typeRequest, read } = request;
  const need = between('EARNINGS', '', typeRequest.today, typeRequest.today);
  const rows = (await read([need]))(need).filter(
    (row) => dayIn(row, 'EPSReportDate') === typeRequest.today,
  );
  const symbols = rows.map((row) => textIn(row, 'symbol')?.toUpperCase() ?? '');
  const quotes = new Map(
    (await computeQuotes(request, symbols)).map((quote) => [
      String(new Map(Object.entries(quote)).get('symbol')),
      quote,
    ]),
  );
  const records = rows.map((row, at) => ({ ...row, quote: quotes.get(symbols[at] ?? '') ?? null }));
  const timeOf = (row: Row): string => textIn(row, 'announceTime')?.toUpperCase() ?? '';
  const named = TIMES.map(([name, word]) => [name, records.filter((row) => timeOf(row) === word)]);
  const words: readonly string[] = TIMES.map(([, word]) => word);
  const other = records.filter((row) => !words.includes(timeOf(row)));
  return Object.fromEntries([...named, ['other', other]]);
}
