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
import { CORE, type Dataset } from '../../store/datasets/datasets.ts';
import { Failure } from '../../store/base/failure.ts';
import { callerOf, datasetOf } from '../auth/access.ts';
import { LACKING } from '../market/market.ts';
import { planNeeds, readPlanned } from '../market/reading.ts';
import { momentNow } from '../read/moments.ts';
import type { Call } from '../request/endpoint.ts';
import type { StockServices } from './knownSymbols.ts';

const SYMBOLS = wholeOf('SYMBOLS', '');

/** The tickers of some texts, in upper case, in their order; what is no known identifier stays as it is. */
export async function tickersOf(
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
