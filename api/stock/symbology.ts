// Symbols as callers name them: a ticker, or another identifier that CORE's SYMBOLS know.
import type { Row } from '../../market/derive/values.ts';
import { dayAt } from '../../market/derive/words.ts';
import { wholeOf } from '../../market/types/ask.ts';
import {
  looksLikeIdentifier,
  symbolOfId,
  symbolsById,
} from '../../market/symbology/identifiers.ts';
import type { Day } from '../../query/time/days.ts';
import { CORE, type Dataset } from '../../store/lake/datasets/datasets.ts';
import { symbolSpellings } from '../../store/lake/datasets/symbolSpelling.ts';
import { Failure } from '../../store/base/failure.ts';
import { callerOf, datasetOf } from '../auth/access.ts';
import { LACKING } from '../market/market.ts';
import { planNeeds, readPlanned } from '../market/reading.ts';
import { momentNow } from '../read/moments.ts';
import type { Call } from '../request/endpoint.ts';
import { knownOf, type StockServices } from './knownSymbols.ts';

const SYMBOLS = wholeOf('SYMBOLS', '');

/** The tickers of some texts, in upper case, in their order; what nothing is known of stays as it is. */
export async function tickersOf(
  texts: readonly string[],
  call: Call,
  services: StockServices,
): Promise<readonly string[]> {
  const tickers = await identified(texts, call, services);
  const spellings = tickers.map(symbolSpellings);
  // A ticker that is spelled in one way only needs no look.
  const open = spellings.filter(({ length }) => length > 1);
  if (open.length === 0) return tickers;
  // Looking for one that is not there looks everywhere: most are there as inputs keep them.
  const first = new Set(open.map(([kept = '']) => kept));
  const known = new Set(await knownOf([...first], call, services));
  const rest = open.filter(([kept = '']) => !known.has(kept)).flatMap(([, ...others]) => others);
  for (const one of await knownOf([...new Set(rest)], call, services)) known.add(one);
  return tickers.map((ticker, at) => spellings[at]?.find((one) => known.has(one)) ?? ticker);
}

async function identified(
  texts: readonly string[],
  call: Call,
  services: StockServices,
): Promise<readonly string[]> {
  if (!texts.some(looksLikeIdentifier)) return texts;
  const dataset = readableSymbols(call, services);
  if (dataset === undefined) return texts;
  const readable = new Map([['SYMBOLS', dataset] as const]);
  const planned = await planNeeds(call, services, readable, [SYMBOLS], momentNow(services));
  const rows = (await readPlanned(planned, services, call))(SYMBOLS);
  const symbols = byIdOf(rows, dayAt(services.clock()));
  return texts.map((text) =>
    looksLikeIdentifier(text) ? (symbolOfId(text, symbols) ?? text) : text,
  );
}

type ById = ReturnType<typeof symbolsById>;

/** The same records are the same array as long as they are kept. */
const byId = new WeakMap<readonly Row[], { readonly today: Day; readonly symbols: ById }>();

function byIdOf(rows: readonly Row[], today: Day): ById {
  const known = byId.get(rows);
  if (known?.today === today) return known.symbols;
  const symbols = symbolsById(rows, today);
  byId.set(rows, { today, symbols });
  return symbols;
}

/** Undefined where there are none, or the caller may not read them. */
function readableSymbols({ caller }: Call, { lake }: StockServices): Dataset | undefined {
  if (lake.directory.dataset(CORE, 'SYMBOLS') === undefined) return undefined;
  try {
    return datasetOf(callerOf(caller), CORE, 'SYMBOLS', lake);
  } catch (error) {
    if (error instanceof Failure && LACKING.has(error.type)) return undefined;
    throw error;
  }
}
