// Resolves symbols of callers: a ticker, or another identifier that CORE's SYMBOLS contain.
import type { Row } from '../../market/derive/values.ts';
import { dayAt } from '../../market/derive/exchangeTime.ts';
import { allRecords } from '../../market/types/typeRequest.ts';
import {
  looksLikeIdentifier,
  symbolOfId,
  symbolsById,
} from '../../market/symbology/identifiers.ts';
import type { Day } from '../../query/time/days.ts';
import { CORE, type Dataset } from '../../store/lake/datasets/datasets.ts';
import { listSymbolSpellings } from '../../store/lake/datasets/symbolSpelling.ts';
import { Failure } from '../../store/base/failure.ts';
import { findDataset } from '../rights/access.ts';
import { ACCESS_FAILURES } from '../market/market.ts';
import { planNeeds, runReadPlan } from '../market/inputReads.ts';
import { currentMoment } from '../series/moments.ts';
import type { ReadRequest } from '../request/readRequest.ts';
import { findKnownSymbols, type StockServices } from './knownSymbols.ts';

const SYMBOLS = allRecords('SYMBOLS', '');

/** Resolves texts to tickers, in upper case and in order; unknown texts are unchanged. */
export async function resolveTickers(
  texts: readonly string[],
  call: ReadRequest,
  services: StockServices,
): Promise<readonly string[]> {
  const tickers = await resolveIdentifiers(texts, call, services);
  const spellings = tickers.map(listSymbolSpellings);
  // A ticker with only one spelling needs no read.
  const ambiguous = spellings.filter(({ length }) => length > 1);
  if (ambiguous.length === 0) return tickers;
  // A missing symbol is searched in all datasets, so the usual spelling of inputs is tried first.
  const first = new Set(ambiguous.map(([primary = '']) => primary));
  const existing = new Set(await findKnownSymbols([...first], call, services));
  const rest = ambiguous
    .filter(([primary = '']) => !existing.has(primary))
    .flatMap(([, ...others]) => others);
  for (const one of await findKnownSymbols([...new Set(rest)], call, services)) existing.add(one);
  return tickers.map((ticker, at) => spellings[at]?.find((one) => existing.has(one)) ?? ticker);
}

async function resolveIdentifiers(
  texts: readonly string[],
  call: ReadRequest,
  services: StockServices,
): Promise<readonly string[]> {
  if (!texts.some(looksLikeIdentifier)) return texts;
  const dataset = readableSymbols(call, services);
  if (dataset === undefined) return texts;
  const readable = new Map([['SYMBOLS', dataset] as const]);
  const planned = await planNeeds(call, services, readable, [SYMBOLS], currentMoment(services));
  const rows = (await runReadPlan(planned, services, call))(SYMBOLS);
  const symbols = mapById(rows, dayAt(services.clock()));
  return texts.map((text) =>
    looksLikeIdentifier(text) ? (symbolOfId(text, symbols) ?? text) : text,
  );
}

type ById = ReturnType<typeof symbolsById>;

/** Maps by array: the same records stay the same array while they are cached. */
const mapCache = new WeakMap<readonly Row[], { readonly today: Day; readonly symbols: ById }>();

function mapById(rows: readonly Row[], today: Day): ById {
  const existing = mapCache.get(rows);
  if (existing?.today === today) return existing.symbols;
  const symbols = symbolsById(rows, today);
  mapCache.set(rows, { today, symbols });
  return symbols;
}

/** Finds SYMBOLS; undefined if it does not exist, or the caller may not read it. */
function readableSymbols({ caller }: ReadRequest, { lake }: StockServices): Dataset | undefined {
  if (lake.directory.dataset(CORE, 'SYMBOLS') === undefined) return undefined;
  try {
    return findDataset(caller, CORE, 'SYMBOLS', lake);
  } catch (error) {
    if (error instanceof Failure && ACCESS_FAILURES.has(error.type)) return undefined;
    throw error;
  }
}
