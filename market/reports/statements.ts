// Statements of one company from its reported facts: one record a quarter and a year.
import { numberOfDay } from '../../query/time/days.ts';
import type { FactReader, XbrlFact } from '../../store/lake/datasets/xbrlFacts.ts';
import { ANCHORS, PARTS_OF, STATEMENT_MEMBERS, type StatementId } from './concepts.ts';
import { type FactTable, factTable, type Span } from './factTable.ts';
import { type Formula, parseFormula, plainSum, evaluateFormula } from './formulas.ts';
import { type Period, findPeriods } from './periods.ts';

type Member = (name: string) => number | undefined;

const EVERY_ANCHOR: readonly string[] = Object.values(ANCHORS).flat();

/** Returns the reader that converts facts to records of a statement. */
export function statementReader(id: StatementId): FactReader {
  const formulas = new Map(
    Object.entries(STATEMENT_MEMBERS[id]).map(([name, texts]) => [name, texts.map(parseFormula)]),
  );
  const terms = [...formulas.values()].flat(2);
  const own = terms.filter(({ kind }) => kind === 'concept').map(({ name }) => name);
  return {
    concepts: [...new Set([...own, ...EVERY_ANCHOR])],
    buildRecords: (facts) => {
      const table = factTable(facts);
      const anchors = facts.filter(({ concept }) => EVERY_ANCHOR.includes(concept));
      return recordsOf({ id, formulas, table, periods: findPeriods(anchors) });
    },
  };
}

interface Making {
  readonly id: StatementId;
  readonly formulas: ReadonlyMap<string, readonly Formula[]>;
  readonly table: FactTable;
  /** Oldest first. */
  readonly periods: readonly Period[];
}

type Records = ReturnType<FactReader['buildRecords']>;

/** The inputs' index allows one record for each day of report. */
function recordsOf(making: Making): Records {
  const { formulas, periods, table } = making;
  const valuesAt = memberReader(making);
  const records = new Map<string, Records['records'][number]>();
  let hidden = 0;
  for (const period of periods) {
    const value = valuesAt(period);
    const values = [...formulas.keys()].flatMap((name) => {
      const amount = value(name);
      return amount === undefined ? [] : [[name, amount] as const];
    });
    if (values.length === 0) continue;
    const { end, form, kind, quarter, reported, year } = period;
    const name = `${kind} ${reported}`;
    if (records.has(name)) hidden += 1;
    records.set(name, {
      period: kind,
      reportDate: reported,
      fiscalDate: end,
      filingType: form,
      ...(table.currency === undefined ? {} : { currency: table.currency }),
      ...(quarter === null ? {} : { fiscalQuarter: quarter }),
      ...(year === null ? {} : { fiscalYear: year }),
      ...Object.fromEntries(values),
    });
  }
  const note = `${hidden} periods were reported on the day of a later one and stay out`;
  return {
    records: [...records.values()],
    notes: [...table.notes, ...(hidden === 0 ? [] : [note])],
  };
}

/** Returns the values of a period by the names of members. */
function memberReader({ formulas, id, periods, table }: Making): (period: Period) => Member {
  const columns = new Map<string, Member>();
  const at = (span: Span, end: string): Member => {
    const name = `${span} ${end}`;
    const cached = columns.get(name);
    if (cached !== undefined) return cached;
    const column = columnOf({ id, formulas, table }, span, end);
    columns.set(name, column);
    return column;
  };
  if (id === 'BALANCE_SHEET') return ({ end }) => at('day', end);
  const ends = [...new Set(periods.map(({ end }) => end))];
  const before = (end: string): string | undefined => ends.findLast((one) => isQuarterOn(one, end));
  return ({ end, kind }) =>
    kind === 'annual' ? at('year', end) : (name) => quarterOf(name, end, { at, before });
}

const isQuarterOn = (end: string, next: string): boolean => {
  const days = numberOfDay(next) - numberOfDay(end);
  return days >= 60 && days <= 130;
};

interface Times {
  readonly at: (span: Span, end: string) => Member;
  /** The end of the quarter before. */
  readonly before: (end: string) => string | undefined;
}

/** Spans from the beginning of a year, each with the one that ends a quarter earlier. */
const LONGER: readonly (readonly [Span, Span])[] = [
  ['half', 'quarter'],
  ['nine', 'half'],
  ['year', 'nine'],
];
const QUARTERS_BEFORE = 3;

/** A quarter as reported, or else its year's value by then less the one before. */
function quarterOf(name: string, end: string, times: Times): number | undefined {
  const { at, before } = times;
  const quarter = reportedQuarter(name, end, times);
  const year = quarter === undefined ? at('year', end)(name) : undefined;
  if (year === undefined) return quarter;
  let rest = year;
  let on = before(end);
  for (let count = 0; count < QUARTERS_BEFORE; count += 1) {
    const value = on === undefined ? undefined : reportedQuarter(name, on, times);
    if (on === undefined || value === undefined) return undefined;
    rest -= value;
    on = before(on);
  }
  return plainSum(rest);
}

function reportedQuarter(name: string, end: string, { at, before }: Times): number | undefined {
  const quarter = at('quarter', end)(name);
  const last = quarter === undefined ? before(end) : undefined;
  if (last === undefined) return quarter;
  for (const [span, shorter] of LONGER) {
    const [whole, part] = [at(span, end)(name), at(shorter, last)(name)];
    if (whole !== undefined && part !== undefined) return plainSum(whole - part);
  }
  return undefined;
}

/** A total below this share of a part is of another scope: losses that revenues include are smaller. */
const TOTAL_LEAST = 0.5;

const isFarBelow = (total: number, part: number | undefined): boolean =>
  part !== undefined && part > 0 && total < part * TOTAL_LEAST;

/** Members of one span that ends on a day, from the last filing with the complete statement. */
function columnOf(
  { formulas, id, table }: Omit<Making, 'periods'>,
  span: Span,
  end: string,
): Member {
  const whole = ANCHORS[id]
    .flatMap((concept) => table.findFacts(concept, span, end).at(-1) ?? [])
    .reduce<XbrlFact | undefined>(
      (last, one) => (last === undefined || one.filed > last.filed ? one : last),
      undefined,
    );
  const reported = (concept: string): number | undefined => {
    const facts = table.findFacts(concept, span, end);
    const chosen =
      facts.findLast(({ accession }) => accession === whole?.accession) ??
      facts.findLast(({ filed }) => whole !== undefined && filed <= whole.filed) ??
      facts.at(-1);
    return chosen?.value;
  };
  const plausible = (concept: string): number | undefined => {
    const value = reported(concept);
    const parts = PARTS_OF[concept] ?? [];
    return value !== undefined && parts.some((part) => isFarBelow(value, reported(part)))
      ? undefined
      : value;
  };
  const cached = new Map<string, number | undefined>();
  const member = (name: string): number | undefined => {
    if (cached.has(name)) return cached.get(name);
    // No member of the table depends on itself: a test verifies it.
    let value: number | undefined;
    for (const formula of formulas.get(name) ?? []) {
      value ??= evaluateFormula(formula, ({ kind, name: own }) =>
        kind === 'concept' ? plausible(own) : member(own),
      );
    }
    const plain = value === undefined ? undefined : plainSum(value);
    cached.set(name, plain);
    return plain;
  };
  return member;
}
