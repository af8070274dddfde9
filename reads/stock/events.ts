// Answers `upcoming-events`: events of several kinds (INTERFACE.md 1), each under the rights and at the price
// of its own type, as in a batch.
import type { Row } from '../../market/derive/values.ts';
import { listShape, objectShape, type Shape } from '../../market/types/shape.ts';
import { recordShape } from '../../market/types/shapes.ts';
import { bodyBytes } from '../../store/duckdb/protocol.ts';
import type { Answer } from '../request/answer.ts';
import type { ReadRequest } from '../request/readRequest.ts';
import { listOf } from '../request/parameters.ts';
import { parseDay } from '../../query/time/dates.ts';
import { type StockServices, normalizeSymbol } from './knownSymbols.ts';
import { formatOffering, VIEW_SHAPE } from './offeringView.ts';
import { answerStockBatch } from './stockBatch.ts';
import { MARKET, findStockType } from './stockTypes.ts';

export const EVENTS = 'upcoming-events';

const UPCOMING_PREFIX = 'upcoming-';
const APPENDED_DATE = /^([^?]*)\?exactDate=(\d[\d-]{7,9})$/;

/** Splits `?exactDate=` from the last symbol, to which iexjs appends it. */
export function splitAppendedDate(call: ReadRequest): ReadRequest {
  const symbols = listOf(call.query, 'symbols') ?? [];
  const [, symbol, day] = APPENDED_DATE.exec(symbols.at(-1) ?? '') ?? [];
  const isUpcoming = (call.path['type'] ?? '').toLowerCase().startsWith(UPCOMING_PREFIX);
  if (!isUpcoming || symbol === undefined || day === undefined) return call;
  const exactDate = parseDay('exactDate', day);
  const query = { ...call.query, symbols: [...symbols.slice(0, -1), symbol], exactDate };
  return { ...call, query };
}

/** Members of the answer with their types. */
const KINDS: readonly (readonly [member: string, type: string])[] = [
  ['earnings', 'upcoming-earnings'],
  ['dividends', 'upcoming-dividends'],
  ['splits', 'upcoming-splits'],
];

/** The type of offerings, whose answer has raw and formatted records. */
const OFFERINGS = 'upcoming-ipos';

const recordsOfType = (name: string): Shape =>
  listShape(recordShape(findStockType(name)?.dataset ?? ''));

/** The shape of the answer: records of each kind. */
export const EVENTS_SHAPE: Shape = {
  $id: 'UpcomingEvents',
  ...objectShape({
    ipos: objectShape({ rawData: recordsOfType(OFFERINGS), viewData: listShape(VIEW_SHAPE) }),
    ...Object.fromEntries(KINDS.map(([member, name]) => [member, recordsOfType(name)])),
  }),
};

type KindAnswer = readonly Row[] | { readonly rawData?: readonly Row[] };
type Lists = Readonly<Record<string, KindAnswer | undefined>>;

const selectRows = (content: KindAnswer = []): readonly Row[] =>
  'rawData' in content ? (content.rawData ?? []) : toRows(content);

const toRows = (content: KindAnswer): readonly Row[] =>
  Array.isArray(content) ? (content as readonly Row[]) : [];

/** Answers the events of a symbol; for the market, of all symbols or of the requested ones. */
export async function answerEvents(call: ReadRequest, services: StockServices): Promise<Answer> {
  const isMarket = normalizeSymbol(call.path['symbol'] ?? '') === MARKET;
  const ofAll = isMarket && (listOf(call.query, 'symbols') ?? []).length === 0;
  const types = [OFFERINGS, ...KINDS.map(([, type]) => type)];
  const query = { ...call.query, types };
  const answer = await answerStockBatch({ ...call, query }, services, ofAll);
  if (answer.kind !== 'rows') return answer;
  const content = JSON.parse(Buffer.from(bodyBytes(answer.body)).toString('utf8')) as Lists;
  const isBySymbol = isMarket && !ofAll;
  const groups: readonly Lists[] = isBySymbol
    ? Object.values(content as unknown as Lists[])
    : [content];
  const rowsOf = (type: string): readonly Row[] =>
    groups.flatMap((lists) => selectRows(lists[type]));
  const others = Object.fromEntries(KINDS.map(([member, type]) => [member, rowsOf(type)]));
  const rawData = rowsOf(OFFERINGS);
  const value = { ipos: { rawData, viewData: rawData.map(formatOffering) }, ...others };
  const bytes = Buffer.from(JSON.stringify(value));
  return { ...answer, body: { objects: answer.body.objects, bytes } };
}
