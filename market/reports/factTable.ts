// Facts of one company by what they are of: concept, length of time, last day.
import { numberOfDay } from '../../query/time/days.ts';
import type { ReportedFact } from '../../store/lake/datasets/reportedFacts.ts';

/** How long a value is of; years have 52 or 53 weeks, and quarters 12 to 17. */
export type Span = 'day' | 'quarter' | 'half' | 'nine' | 'year';

const DAYS_OF: readonly (readonly [span: Span, least: number, most: number])[] = [
  ['quarter', 70, 125],
  ['half', 150, 200],
  ['nine', 230, 290],
  ['year', 340, 385],
];

/** Undefined for a time that is no part of a year. */
function spanOf({ end, start }: ReportedFact): Span | undefined {
  if (start === null) return 'day';
  const days = numberOfDay(end) - numberOfDay(start) + 1;
  return DAYS_OF.find(([, least, most]) => days >= least && days <= most)?.[0];
}

export interface FactTable {
  /** Of one concept, span and last day: what filings tell, the newest filing last. */
  readonly told: (concept: string, span: Span, end: string) => readonly ReportedFact[];
  /** A currency's code. */
  readonly currency: string | undefined;
}

const CURRENCY = /^[A-Z]{3}$/;
const USUAL_CURRENCY = 'USD';

/** @param facts of which those in the currency that has most of them are kept */
export function factTable(facts: readonly ReportedFact[]): FactTable {
  const currency = currencyOf(facts);
  const byName = new Map<string, ReportedFact[]>();
  for (const fact of facts) {
    const span = fact.unit === currency ? spanOf(fact) : undefined;
    if (span === undefined) continue;
    const name = `${fact.concept} ${span} ${fact.end}`;
    const known = byName.get(name);
    if (known === undefined) byName.set(name, [fact]);
    else known.push(fact);
  }
  for (const list of byName.values()) list.sort(byFiling);
  return {
    told: (concept, span, end) => byName.get(`${concept} ${span} ${end}`) ?? [],
    currency,
  };
}

/** The older filing first; within one the longer time, which is then taken. */
const byFiling = (one: ReportedFact, other: ReportedFact): number =>
  compared(one.filed, other.filed) ||
  compared(one.accession, other.accession) ||
  compared(other.start ?? '', one.start ?? '');

const compared = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

function currencyOf(facts: readonly ReportedFact[]): string | undefined {
  const counts = new Map<string, number>();
  for (const { unit } of facts) {
    if (CURRENCY.test(unit)) counts.set(unit, (counts.get(unit) ?? 0) + 1);
  }
  const rank = ([unit, count]: readonly [string, number]): number =>
    count + (unit === USUAL_CURRENCY ? 0.5 : 0);
  return [...counts].toSorted((one, other) => rank(other) - rank(one))[0]?.[0];
}
