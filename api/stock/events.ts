// `upcoming-events`: what comes of several kinds at once (INTERFACE.md 1), each under the rights and at the
// price of its own type, as in a batch.
import { listShape, objectShape, type Shape } from '../../market/types/shape.ts';
import { recordShape } from '../../market/types/shapes.ts';
import { wholeOf } from '../../store/duckdb/protocol.ts';
import type { Answer, Call } from '../request/endpoint.ts';
import { listOf } from '../request/parameters.ts';
import { parseDay } from '../../query/time/dates.ts';
import { type StockServices, symbolOf } from './knownSymbols.ts';
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

/** Offerings, which a calendar of theirs holds twice wherever they are told. */
const OFFERINGS = 'upcoming-ipos';

const recordsOfType = (name: string): Shape =>
  listShape(recordShape(typeNamed(name)?.dataset ?? ''));

const twice = <T>(value: T) => ({ rawData: value, viewData: value });

/** Records of each kind. */
export const EVENTS_SHAPE: Shape = {
  $id: 'UpcomingEvents',
  ...objectShape({
    ipos: objectShape(twice(recordsOfType(OFFERINGS))),
    ...Object.fromEntries(KINDS.map(([member, name]) => [member, recordsOfType(name)])),
  }),
};

type Told = readonly unknown[] | { readonly rawData?: readonly unknown[] };
type Lists = Readonly<Record<string, Told | undefined>>;

const rowsIn = (told: Told = []): readonly unknown[] =>
  'rawData' in told ? (told.rawData ?? []) : Array.isArray(told) ? told : [];

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
  const rowsOf = (type: string): readonly unknown[] => of.flatMap((lists) => rowsIn(lists[type]));
  const others = Object.fromEntries(KINDS.map(([member, type]) => [member, rowsOf(type)]));
  const value = { ipos: twice(rowsOf(OFFERINGS)), ...others };
  const bytes = Buffer.from(JSON.stringify(value));
  return { ...answer, body: { objects: answer.body.objects, bytes } };
}
