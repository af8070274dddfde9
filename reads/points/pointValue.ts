// Answers one data point as plain text: an attribute of its endpoint, under the endpoint's rights and price.
import { CORE } from '../../store/lake/datasets/datasets.ts';
import { Failure } from '../../store/base/failure.ts';
import { dayIn } from '../../query/time/dates.ts';
import { findDataset } from '../rights/access.ts';
import type { Answer } from '../request/answer.ts';
import type { ReadRequest } from '../request/readRequest.ts';
import { refuseUnknown, type StockServices, normalizeSymbol } from '../stock/knownSymbols.ts';
import { answerStock } from '../stock/stock.ts';
import { resolveTickers } from '../stock/symbology.ts';
import { type Freshness, readFreshness } from './freshness.ts';
import { isoSeconds } from './pointList.ts';
import { type Point, findPoints } from './points.ts';

export async function answerPoint(call: ReadRequest, services: StockServices): Promise<Answer> {
  const point = findPoints(services.lake).get((call.path['key'] ?? '').toUpperCase());
  if (point === undefined) throw new Failure('NotFound');
  if (point.value.kind !== 'attribute') return freeAnswer(call, services, point);
  const { path, query } = toStockPath(call, services, point, point.value.name);
  const answer = await answerStock({ ...call, path, query }, services);
  if (answer.kind !== 'rows') return answer;
  const text = toText(answer.body.bytes);
  const body = { ...answer.body, bytes: Buffer.from(text) };
  return { ...answer, body, plain: true, callback: undefined };
}

/** Builds the path of the stock endpoint that answers a single attribute. */
function toStockPath(
  { path, query }: ReadRequest,
  { clock, settings }: StockServices,
  { source: { kind, type } }: Point,
  attribute: string,
): Pick<ReadRequest, 'path' | 'query'> {
  const stock = { ...path, type: type.name };
  if (kind === 'computed' || type.shape === 'record') {
    return { path: { ...stock, part: attribute }, query };
  }
  if (type.shape === 'newest') return { path: { ...stock, part: '1', detail: attribute }, query };
  if (type.shape === 'day') return { path: stock, query: { ...query, filter: [attribute] } };
  // For daily records, the latest day that is not in the future.
  const to = dayIn(clock(), settings.zone);
  return { path: stock, query: { ...query, to, last: 1, filter: [attribute] } };
}

/** Formats a value as text; the only member of the only record is unwrapped. */
function toText(bytes: Uint8Array): string {
  const value: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
  const [only] = Array.isArray(value) ? (value as readonly unknown[]) : [value];
  if (only === undefined || only === null) return '';
  if (typeof only !== 'object') return Array.isArray(value) ? JSON.stringify(value) : String(only);
  const [member] = Object.values(only);
  if (member === undefined || member === null) return '';
  return typeof member === 'object' ? JSON.stringify(member) : String(member);
}

async function freeAnswer(
  call: ReadRequest,
  services: StockServices,
  point: Point,
): Promise<Answer> {
  const requestedSymbol = normalizeSymbol(call.path['symbol'] ?? '');
  const [symbol = requestedSymbol] = await resolveTickers([requestedSymbol], call, services);
  let newest: Freshness | undefined;
  for (const { dataset: id } of point.source.datasets) {
    const dataset = findDataset(call.caller, CORE, id, services.lake);
    const one = await readFreshness(call, services, dataset, symbol);
    if (one !== undefined && one.writtenMs > (newest?.writtenMs ?? -Infinity)) newest = one;
  }
  if (newest === undefined) await refuseUnknown(symbol, call, services);
  const text = newest === undefined ? '' : freshnessText(point, newest);
  return { kind: 'text', text, contentType: 'text/plain; charset=utf-8' };
}

const freshnessText = ({ value }: Point, { date, writtenMs }: Freshness): string =>
  value.kind === 'written' ? isoSeconds(writtenMs) : String(date ?? '');
