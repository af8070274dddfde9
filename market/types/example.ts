// An example of every type, computed from the examples of the inputs: what documents show, and which
// attributes a type has.
import { addDays } from '../../query/time/days.ts';
import type { Row } from '../derive/values.ts';
import type { Input } from '../inputs/inputRow.ts';
import { INPUTS } from '../inputs/inputs.ts';
import type { Ask, Need } from './ask.ts';
import { type MarketType, marketType } from './marketTypes.ts';

/** Friday, 30 January 2026, half an hour after the close. */
const NOW_MS = Date.parse('2026-01-30T21:30:00Z');
const TODAY = '2026-01-30';

/** Two bars are an average; contracts tell more than their days. */
const OPTIONS = { indicator: 'sma', input1: 2, expiration: '202602' };

const ASK: Ask = { symbol: 'MSFT', nowMs: NOW_MS, untilMs: NOW_MS, today: TODAY, options: OPTIONS };

/** The record that an input's documentation shows. */
export const exampleRow = ({ properties }: Input): Row =>
  Object.fromEntries(properties.map(({ example, name }) => [name, example]));

/** A symbol is that security still. */
const rowsOf = (input: Input): readonly Row[] => {
  const { validTo: _, ...row } = exampleRow(input);
  return input.id === 'HISTORICAL_PRICES' ? [{ ...row, date: addDays(TODAY, -1) }, row] : [row];
};

const ROWS = new Map(INPUTS.map((input) => [input.id, rowsOf(input)]));

const read = ({ input }: Need): readonly Row[] => ROWS.get(input) ?? [];

/** What the type answers for the inputs' examples. */
export const exampleOf = (type: MarketType): unknown => type.answer(ASK, read);

/** Names that a filter may have: a chart is of days or of minutes, whichever is asked for. */
export function filterMembersOf(type: MarketType): readonly string[] {
  const minutes = marketType('intraday-prices');
  const isChart = type.options.includes('chartByDay') && minutes !== undefined;
  return isChart ? [...membersOf(type), ...membersOf(minutes)] : membersOf(type);
}

const members = new Map<string, readonly string[]>();

/** Names of a type's attributes; none of one that is a value. */
export function membersOf(type: MarketType): readonly string[] {
  const known = members.get(type.name);
  if (known !== undefined) return known;
  const example = exampleOf(type);
  const row: unknown = Array.isArray(example) ? example[0] : example;
  const made = typeof row === 'object' && row !== null ? Object.keys(row) : [];
  members.set(type.name, made);
  return made;
}
