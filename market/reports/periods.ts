// The periods that a company reported: each filing is of one, and repeats others for comparison.
import { numberOfDay } from '../../query/time/days.ts';
import type { XbrlFact } from '../../store/lake/datasets/xbrlFacts.ts';

export interface Period {
  readonly kind: 'quarterly' | 'annual';
  readonly end: string;
  /** Day of the first report. */
  readonly reported: string;
  readonly form: string;
  /** 1 to 4, 0 for a year; null where the filing does not state it. */
  readonly quarter: number | null;
  readonly year: number | null;
}

const FORMS = /^(10-K|10-KT|20-F|40-F|10-Q|10-QT)(?:\/A)?$/;
/** Most days from the end of a year back to its first quarter's. */
const YEAR_DAYS = 385;

/** Quarters and years of one company: those of two centuries, the latest ones. */
const PERIODS_MAX = 1_000;

/** Oldest first. @param facts of concepts that every report has */
export function findPeriods(facts: readonly XbrlFact[]): readonly Period[] {
  const filings = new Map<string, XbrlFact>();
  for (const fact of facts) {
    if (!FORMS.test(fact.form) || fact.end > fact.filed) continue;
    const existing = filings.get(fact.accession);
    if (existing === undefined || fact.end > existing.end) filings.set(fact.accession, fact);
  }
  const periods = new Map<string, Period>();
  const sorted = [...filings.values()].sort((one, other) => (one.filed < other.filed ? -1 : 1));
  for (const fact of sorted) {
    const period = periodOf(fact);
    const name = `${period.kind} ${period.end}`;
    if (!periods.has(name)) periods.set(name, period);
  }
  const byEnd = (one: Period, other: Period): number => (one.end < other.end ? -1 : 1);
  const reported = [...periods.values()].sort(byEnd).slice(-PERIODS_MAX);
  const all = [...reported, ...reported.flatMap((period) => lastQuarterOf(period, reported))];
  return all.sort(byEnd);
}

function periodOf({ end, filed, fiscalPeriod, fiscalYear, form }: XbrlFact): Period {
  const [, kind = ''] = FORMS.exec(form) ?? [];
  const isQuarter = kind.startsWith('10-Q');
  const [, quarter] = /^Q([1-4])$/.exec(fiscalPeriod ?? '') ?? [];
  return {
    kind: isQuarter ? 'quarterly' : 'annual',
    end,
    reported: filed,
    form: form.replace(/\/A$/, ''),
    year: fiscalYear,
    quarter: isQuarter ? (quarter === undefined ? null : Number(quarter)) : 0,
  };
}

/** No report covers the last quarter alone: if a company reports quarters, its year ends with one. */
function lastQuarterOf(year: Period, reported: readonly Period[]): readonly Period[] {
  const has = reported.some(({ end, kind }) => {
    const days = numberOfDay(year.end) - numberOfDay(end);
    return kind === 'quarterly' && days > 0 && days < YEAR_DAYS;
  });
  if (year.kind !== 'annual' || !has) return [];
  return [{ ...year, kind: 'quarterly', quarter: 4 }];
}
