// Facts of one company by concept, length of time and last day.
import { numberOfDay } from '../../query/time/days.ts';
import type { XbrlFact } from '../../store/lake/datasets/xbrlFacts.ts';

/** Length of time of a value; years have 52 or 53 weeks, and quarters 12 to 17. */
export type Span = 'day' | 'quarter' | 'half' | 'nine' | 'year';

const DAYS_OF: readonly (readonly [span: Span, least: number, most: number])[] = [
  ['quarter', 70, 125],
  ['half', 150, 200],
  ['nine', 230, 290],
  ['year', 340, 385],
];

/** Undefined for a time that is no part of a year. */
function spanOf({ end, start }: XbrlFact): Span | undefined {
  if (start === null) return 'day';
  const days = numberOfDay(end) - numberOfDay(start) + 1;
  return DAYS_OF.find(([, least, most]) => days >= least && days <= most)?.[0];
}

export interface FactTable {
  /** Values of one concept, span and last day, the latest filing last. */
  readonly findFacts: (concept: string, span: Span, end: string) => readonly XbrlFact[];
  /** A currency's code. */
  readonly currency: string | undefined;
  /** Notes on values that are left out. */
  readonly notes: readonly string[];
}

const CURRENCY = /^[A-Z]{3}$/;
const USUAL_CURRENCY = 'USD';

/** @param facts only those in the most frequent currency are kept */
export function factTable(facts: readonly XbrlFact[]): FactTable {
  const currency = currencyOf(facts);
  const byName = new Map<string, XbrlFact[]>();
  let outside = 0;
  for (const fact of facts) {
    if (!isOfPeriod(fact)) {
      outside += 1;
      continue;
    }
    const span = fact.unit === currency ? spanOf(fact) : undefined;
    if (span === undefined) continue;
    const name = `${fact.concept} ${span} ${fact.end}`;
    const existing = byName.get(name);
    if (existing === undefined) byName.set(name, [fact]);
    else existing.push(fact);
  }
  let misscaled = 0;
  for (const [name, list] of byName) {
    const ranked = ofBestForm(list);
    const consistent = withoutScaleErrors(ranked.sort(byFiling));
    misscaled += ranked.length - consistent.length;
    byName.set(name, [...consistent]);
  }
  return {
    findFacts: (concept, span, end) => byName.get(`${concept} ${span} ${end}`) ?? [],
    currency,
    notes: [
      ...(outside === 0 ? [] : [`${outside} values of filings that report no period stay out`]),
      ...(misscaled === 0
        ? []
        : [`${misscaled} values are a thousand or a million times another filing's and stay out`]),
    ],
  };
}

/** Annual and quarterly reports, and their amendments. */
const PERIODIC = /^(?:10-K|10-KT|10-K405|10-KSB|10-Q|10-QT|10-QSB|20-F|40-F)(?:\/A)?$/;

/**
 * A proxy statement, for example, repeats single values without their year and quarter, often in thousands.
 */
const isOfPeriod = ({ fiscalPeriod, fiscalYear, form }: XbrlFact): boolean =>
  PERIODIC.test(form) || (fiscalPeriod !== null && fiscalYear !== null);

/** Values of other filings, such as 8-K, count only where no periodic report has one. */
function ofBestForm(facts: readonly XbrlFact[]): XbrlFact[] {
  const periodic = facts.filter(({ form }) => PERIODIC.test(form));
  return periodic.length > 0 ? periodic : [...facts];
}

/** Scales that filers confuse: units, thousands and millions. */
const SCALES = [1e-6, 1e-3, 1e3, 1e6];
/** Tolerated difference of a value of another scale: it is rounded. */
const SCALE_TOLERANCE = 0.005;

const isScaled = (one: number, other: number): boolean =>
  SCALES.some((scale) => Math.abs(one - other * scale) <= Math.abs(one) * SCALE_TOLERANCE) &&
  one !== 0;

/**
 * Corrects scale errors by majority: of two scales that of more filings is kept, with a tie that of an
 * amendment, which corrects, or else of the first filing.
 * @param facts the older filing first
 */
function withoutScaleErrors(facts: readonly XbrlFact[]): readonly XbrlFact[] {
  if (!facts.some((one) => facts.some((other) => isScaled(one.value, other.value)))) return facts;
  const groups: XbrlFact[][] = [];
  for (const fact of facts) {
    const group = groups.find(([first]) => first !== undefined && isNear(first.value, fact.value));
    if (group === undefined) groups.push([fact]);
    else group.push(fact);
  }
  const rank = (group: readonly XbrlFact[]): number =>
    group.length + (group.some(({ form }) => form.endsWith('/A')) ? 0.5 : 0);
  const best = groups.reduce((one, other) => (rank(other) > rank(one) ? other : one));
  const [trusted] = best;
  return facts.filter(({ value }) => trusted === undefined || !isScaled(value, trusted.value));
}

/** Of the same scale: a restatement does not change a value by a factor of a hundred. */
const isNear = (one: number, other: number): boolean =>
  Math.abs(one) < Math.abs(other) * 100 && Math.abs(other) < Math.abs(one) * 100;

/** The older filing first; within one the longer time, which is used then. */
const byFiling = (one: XbrlFact, other: XbrlFact): number =>
  compared(one.filed, other.filed) ||
  compared(one.accession, other.accession) ||
  compared(other.start ?? '', one.start ?? '');

const compared = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

function currencyOf(facts: readonly XbrlFact[]): string | undefined {
  const counts = new Map<string, number>();
  for (const { unit } of facts) {
    if (CURRENCY.test(unit)) counts.set(unit, (counts.get(unit) ?? 0) + 1);
  }
  const rank = ([unit, count]: readonly [string, number]): number =>
    count + (unit === USUAL_CURRENCY ? 0.5 : 0);
  return [...counts].toSorted((one, other) => rank(other) - rank(one))[0]?.[0];
}
