// Parts of the market (INTERFACE.md 1 "market"): who is first in a list, who is of a sector or has a tag, how
// sectors did, and who reports today.
import { listed, sectorsOf } from '../../market/board/board.ts';
import { dayIn, listIn, type Row, textIn } from '../../market/derive/values.ts';
import { between, wholeOf } from '../../market/types/ask.ts';
import { Failure } from '../../store/base/failure.ts';
import { numberOf, refuse, textOf } from '../request/parameters.ts';
import { type AskedOfAll, boardNow, quotesOf } from './boardNow.ts';

/** Quotes of a list where a caller does not say. */
export const LIST_USUAL = 10;
/** A collection that is one of the lists, and as long as one. */
export const LIST = 'list';
/** Quotes of one collection. */
export const COLLECTION_MAX = 500;

/** Quotes of the symbols that are first in a list. */
export async function quotesOfList(asked: AskedOfAll): Promise<readonly object[]> {
  return quotesOfListNamed(asked, asked.call.path['part'] ?? '');
}

async function quotesOfListNamed(asked: AskedOfAll, name: string): Promise<readonly object[]> {
  const limit = numberOf(asked.call.query, 'listLimit') ?? LIST_USUAL;
  const symbols = listed(name, await boardNow(asked), limit);
  if (symbols === undefined) throw new Failure('NotFound');
  return quotesOf(asked, symbols);
}

const COMPANIES = wholeOf('COMPANY', '');

/** The newest record of each company, by symbol. */
async function companiesOf({ read }: AskedOfAll): Promise<ReadonlyMap<string, Row>> {
  const rows = (await read([COMPANIES]))(COMPANIES);
  return new Map(rows.map((row) => [textIn(row, 'symbol')?.toUpperCase() ?? '', row]));
}

/** Quotes of a sector, of who has a tag, or of a list, by `collectionName`. */
export async function quotesOfCollection(asked: AskedOfAll): Promise<readonly object[]> {
  const { call } = asked;
  const kind = (call.path['part'] ?? '').toLowerCase();
  const name = textOf(call.query, 'collectionName')?.trim();
  if (!COLLECTIONS.has(kind)) throw new Failure('NotFound');
  if (name === undefined || name === '') return refuse('collectionName', 'is required');
  if (kind === LIST) return quotesOfListNamed(asked, name);
  const wanted = name.toLowerCase();
  const isOf = (row: Row): boolean => {
    if (kind === 'sector') return textIn(row, 'sector')?.toLowerCase() === wanted;
    const tags = listIn(row['tags']);
    return Array.isArray(tags) && tags.some((tag) => String(tag).toLowerCase() === wanted);
  };
  const companies = [...(await companiesOf(asked))].filter(([, row]) => isOf(row));
  const symbols = companies.map(([symbol]) => symbol).sort();
  const limit = numberOf(call.query, 'listLimit') ?? COLLECTION_MAX;
  return quotesOf(asked, symbols.slice(0, limit));
}

export const COLLECTION_KINDS = ['sector', 'tag', LIST];
const COLLECTIONS: ReadonlySet<string> = new Set(COLLECTION_KINDS);

/** How each sector did on the last day, weighed by what its companies are worth. */
export async function sectorPerformance(asked: AskedOfAll): Promise<readonly object[]> {
  const companies = await companiesOf(asked);
  return sectorsOf(await boardNow(asked), companies, asked.ask.today);
}

/** When earnings are announced, by the word of their record. */
const TIMES = [
  ['bto', 'BTO'],
  ['amc', 'AMC'],
] as const;

/** Who reports today: before the opening, after the close, and at other times, each with its quote. */
export async function todayEarnings(asked: AskedOfAll): Promise<object> {
  const { ask, read } = asked;
  const need = between('EARNINGS', '', ask.today, ask.today);
  const rows = (await read([need]))(need).filter(
    (row) => dayIn(row, 'EPSReportDate') === ask.today,
  );
  const symbols = rows.map((row) => textIn(row, 'symbol')?.toUpperCase() ?? '');
  const quotes = new Map(
    (await quotesOf(asked, symbols)).map((quote) => [
      String(new Map(Object.entries(quote)).get('symbol')),
      quote,
    ]),
  );
  const whole = rows.map((row, at) => ({ ...row, quote: quotes.get(symbols[at] ?? '') ?? null }));
  const timeOf = (row: Row): string => textIn(row, 'announceTime')?.toUpperCase() ?? '';
  const named = TIMES.map(([name, word]) => [name, whole.filter((row) => timeOf(row) === word)]);
  const words: readonly string[] = TIMES.map(([, word]) => word);
  const other = whole.filter((row) => !words.includes(timeOf(row)));
  return Object.fromEntries([...named, ['other', other]]);
}
