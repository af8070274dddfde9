// `upcoming-events`: what comes of several kinds at once (INTERFACE.md 1), each under the rights and at the
// price of its own type, as in a batch.
import type { Row } from '../../market/derive/values.ts';
import { listShape, objectShape, type Shape } from '../../market/types/shape.ts';
import { recordShape } from '../../market/types/shapes.ts';
import { wholeOf } from '../../store/duckdb/protocol.ts';
import type { Answer, Call } from '../request/endpoint.ts';
import { listOf } from '../request/parameters.ts';
import { parseDay } from '../../query/time/dates.ts';
import { type StockServices, symbolOf } from './knownSymbols.ts';
import { viewOf, VIEW_SHAPE } from './offeringView.ts';
import { answerStockBatch } from './stockBatch.ts';
import { MARKET, typeNamed } from './stockTypes.ts';

export const EVENTS = 'upcoming-events';

const COMING = 'upcoming-';
const GLUED = /^([^?]*)\?exactDate=(\d[\d-]{7,9})$/;

/** iexjs glues `?exactDate=` to the only symbol. */
export function unglued(call: Call): Call {
  const symbols = listOf(call.query, 'symbols') ?? [];
  const [, symbol, day] = GLUED.exec(symbols.at(-1) ?? '') ?? [];
  const isComing = (call.path['type'] ?? '').toLowerCase().startsWith(COMING);
  if (!isComing || symbol === undefined || day === undefined) return call;
  const exactDate = parseDay('exactDate', day);
  const query = { ...call.query, symbols: [...symbols.slice(0, -1), symbol], exactDate };
  return { ...call, query };
}

/** Members of the answer, and the types that they are. */
const KINDS: readonly (readonly [member: string, type: string])[] = [
  ['earnings', 'upcoming-earnings'],
  ['dividends', 'upcoming-dividends'],
  ['splits', 'upcoming-splits'],
];

/** Offerings, whose calendar holds them as they are and as they are to be shown. */
const OFFERINGS = 'upcoming-ipos';

const recordsOfType = (name: string): Shape =>
  listShape(recordShape(typeNamed(name)?.dataset ?? ''));

/** Records of each kind. */
export const EVENTS_SHAPE: Shape = {
  $id: 'UpcomingEvents',
  ...objectShape({
    ipos: objectShape({ rawData: recordsOfType(OFFERINGS), viewData: listShape(VIEW_SHAPE) }),
    ...Object.fromEntries(KINDS.map(([member, name]) => [member, recordsOfType(name)])),
  }),
};

type Told = readonly Row[] | { readonly rawData?: readonly Row[] };
type Lists = Readonly<Record<string, Told | undefined>>;

const rowsIn = (told: Told = []): readonly Row[] =>
  'rawData' in told ? (told.rawData ?? []) : listed(told);

const listed = (told: Told): readonly Row[] =>
  Array.isArray(told) ? (told as readonly Row[]) : [];

/** Of a symbol; of the market those of all, or of some of it. */
export async function answerEvents(call: Call, services: StockServices): Promise<Answer> {
  const isMarket = symbolOf(call.path['symbol'] ?? '') === MARKET;
  const ofAll = isMarket && (listOf(call.query, 'symbols') ?? []).length === 0;
  const types = [OFFERINGS, ...KINDS.map(([, type]) => type)];
  const query = { ...call.query, types };
  const answer = await answerStockBatch({ ...call, query }, services, ofAll);
  if (answer.kind !== 'rows') return answer;
  const told = JSON.parse(Buffer.from(wholeOf(answer.body)).toString('utf8')) as Lists;
  const isBySymbol = isMarket && !ofAll;
  const of: readonly Lists[] = isBySymbol ? Object.values(told as unknown as Lists[]) : [told];
  const rowsOf = (type: string): readonly Row[] => of.flatMap((lists) => rowsIn(lists[type]));
  const others = Object.fromEntries(KINDS.map(([member, type]) => [member, rowsOf(type)]));
  const rawData = rowsOf(OFFERINGS);
  const value = { ipos: { rawData, viewData: rawData.map(viewOf) }, ...others };
  const bytes = Buffer.from(JSON.stringify(value));
  return { ...answer, body: { objects: answer.body.objects, bytes } };
}
