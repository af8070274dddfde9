// An example of every type, computed from the examples of the inputs, for the documents and for the names of
// a type's attributes.
import { addDays } from '../../query/time/days.ts';
import type { Row } from '../derive/values.ts';
import type { Input } from '../inputs/inputRow.ts';
import { INPUTS } from '../inputs/inputs.ts';
import type { TypeRequest, Need } from './typeRequest.ts';
import { spanOf } from './days.ts';
import { type MarketType, marketType } from './marketTypes.ts';

/** Friday, 30 January 2026, half an hour after the close. */
const NOW_MS = Date.parse('2026-01-30T21:30:00Z');
const TODAY = '2026-01-30';

/** An average of two bars; contracts have more attributes than their days. */
const OPTIONS = { indicator: 'sma', input1: 2, expiration: '202602' };

const ASK: TypeRequest = {
  symbol: 'MSFT',
  nowMs: NOW_MS,
  untilMs: NOW_MS,
  today: TODAY,
  options: OPTIONS,
};

/** The record in an input's documentation. */
export const exampleRow = ({ properties }: Input): Row =>
  Object.fromEntries(properties.map(({ example, name }) => [name, example]));

/** Without `validTo`: the symbol is still valid. */
const rowsOf = (input: Input): readonly Row[] => {
  const { validTo: _, ...row } = exampleRow(input);
  return input.id === 'HISTORICAL_PRICES' ? [{ ...row, date: addDays(TODAY, -1) }, row] : [row];
};

const ROWS = new Map(INPUTS.map((input) => [input.id, rowsOf(input)]));

const read = ({ input }: Need): readonly Row[] => ROWS.get(input) ?? [];

/** The type's answer for the inputs' examples. */
export const computeExample = (type: MarketType): unknown => type.answer(ASK, read);

/** Names that a filter of a request accepts: a chart contains days or minutes. */
export function listFilterMembers(type: MarketType, ask: TypeRequest): readonly string[] {
  const minutes = marketType('intraday-prices');
  const isChart = type.shape === 'list' && type.options.includes('chartByDay');
  const isOfMinutes = isChart && spanOf(ask).kind === 'minutes' && minutes !== undefined;
  return listMembers(isOfMinutes ? minutes : type);
}

const members = new Map<string, readonly string[]>();

/** Names of a type's attributes; none for a type that is a single value. */
export function listMembers(type: MarketType): readonly string[] {
  const cached = members.get(type.name);
  if (cached !== undefined) return cached;
  const example = computeExample(type);
  const row: unknown = Array.isArray(example) ? example[0] : example;
  const names = typeof row === 'object' && row !== null ? Object.keys(row) : [];
  members.set(type.name, names);
  return names;
}
