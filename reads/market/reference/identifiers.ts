// Finds securities by ISIN, FIGI or RIC (INTERFACE.md 1 "ref-data").
import { holds, textIn } from '../../../market/derive/values.ts';
import { dayAt } from '../../../market/derive/exchangeTime.ts';
import { type Security, securityOf } from '../../../market/symbology/securities.ts';
import { EXAMPLE_DAY, EXAMPLE_SYMBOL, observeRow } from '../../../market/types/observed.ts';
import { eitherOf, listShape, mapShape, orNull } from '../../../market/types/shape.ts';
import { Failure } from '../../../store/base/failure.ts';
import type { MarketServices } from '../inputReads.ts';
import type { Answer } from '../../request/answer.ts';
import type { ReadRequest } from '../../request/readRequest.ts';
import { listOf, truthOf } from '../../request/parameters.ts';
import { answerFixed } from './fixedPrice.ts';
import { readInputRows, readSecurities } from './securityDirectory.ts';

const KINDS: ReadonlySet<string> = new Set(['isin', 'figi', 'ric']);
/** Maximum identifiers of one call. */
const IDS_MAX = 1_000;
const PRICE = { usageKey: 'REF_DATA_ISIN', weight: 100 } as const;

/** Answers a list of securities; with `mapped`, an object by identifier, null for unknown identifiers. */
export function answerIdentifiers(call: ReadRequest, services: MarketServices): Promise<Answer> {
  const kind = call.path['kind'] ?? '';
  if (!KINDS.has(kind)) throw new Failure('NotFound');
  const requestedIds = (listOf(call.query, kind) ?? [])
    .map((id) => id.trim())
    .filter((id) => id !== '');
  if (requestedIds.length === 0) {
    // The text that clients of the original expect (INTERFACE.md 0.1).
    throw new Failure('InvalidParameter', `child "${kind}" fails because ["${kind}" is required]`);
  }
  if (requestedIds.length > IDS_MAX) {
    throw new Failure('InvalidParameter', `"${kind}" must name at most ${IDS_MAX}`);
  }
  return answerFixed(call, services, PRICE, () =>
    findSecurities(kind, requestedIds, call, services),
  );
}

const toIdentifiedSecurity = ({ exchange, iexId, region, symbol }: Security) => ({
  symbol,
  region,
  exchange,
  iexId,
});

const IDENTIFIED_SHAPE = listShape(
  observeRow('IdentifiedSecurity', (rows) =>
    rows('SYMBOLS').map((row) =>
      toIdentifiedSecurity(securityOf(EXAMPLE_SYMBOL, row, EXAMPLE_DAY)),
    ),
  ),
);
/** A list, or an object by identifier. */
export const IDENTIFIERS_SHAPE = eitherOf([IDENTIFIED_SHAPE, mapShape(orNull(IDENTIFIED_SHAPE))]);

async function findSecurities(
  kind: string,
  requestedIds: readonly string[],
  call: ReadRequest,
  services: MarketServices,
): Promise<unknown> {
  const rows = await readInputRows(call, services, 'SYMBOLS');
  const securities = new Map(
    (await readSecurities(call, services)).map((security) => [security.symbol, security]),
  );
  const today = dayAt(services.clock());
  const ids = new Map<string, readonly object[]>();
  for (const row of rows) {
    const id = textIn(row, kind)?.toUpperCase();
    const security = securities.get(textIn(row, 'symbol')?.toUpperCase() ?? '');
    if (id === undefined || security === undefined || !holds(row, today)) continue;
    ids.set(id, [...(ids.get(id) ?? []), toIdentifiedSecurity(security)]);
  }
  const of = (id: string): readonly object[] | undefined => ids.get(id.toUpperCase());
  if (!truthOf(call.query, 'mapped')) return requestedIds.flatMap((id) => of(id) ?? []);
  return Object.fromEntries(requestedIds.map((id) => [id, of(id) ?? null]));
}
