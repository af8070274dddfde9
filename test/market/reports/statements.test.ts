// Statements of the facts that a company reported: quarters and years, late and amended facts, and odd
// values.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { STATEMENT_MEMBERS, type StatementId } from '../../../market/reports/concepts.ts';
import { parseFormula } from '../../../market/reports/formulas.ts';
import { statementReader } from '../../../market/reports/statements.ts';
import { inputOf } from '../../../market/inputs/inputs.ts';
import type { XbrlFact } from '../../../store/lake/datasets/xbrlFacts.ts';
import { companyFactsOf, GROWING, MILLION } from '../../pipeline/recipes/companyFacts.ts';

type StatementRecord = Readonly<Record<string, string | number>>;

/** The facts of a document, as a load reads them. */
function factsOf(document: ReturnType<typeof companyFactsOf>): readonly XbrlFact[] {
  return Object.entries(document['us-gaap'] ?? {}).flatMap(([concept, { units }]) =>
    Object.entries(units).flatMap(([unit, list]) =>
      list.map(({ accn, end, filed, form, fp, fy, start, val }) => ({
        concept,
        unit,
        start: start ?? null,
        end,
        value: val,
        accession: accn,
        form,
        filed,
        fiscalPeriod: fp,
        fiscalYear: fy,
      })),
    ),
  );
}

const madeOf = (id: StatementId, facts: readonly XbrlFact[]): readonly StatementRecord[] =>
  statementReader(id).buildRecords(facts).records;

const find = (
  records: readonly StatementRecord[],
  period: string,
  end: string,
): StatementRecord => {
  const record = records.find((one) => one['period'] === period && one['fiscalDate'] === end);
  assert.ok(record !== undefined, `${period} ${end}`);
  return record;
};

const FACTS = factsOf(companyFactsOf(GROWING));

test('quarters and years have days, forms and numbers of their filings', () => {
  const records = madeOf('INCOME', FACTS);
  assert.equal(records.length, 12 + 3);
  assert.deepEqual(
    records.slice(0, 5).map((one) => [one['period'], one['fiscalDate'], one['reportDate']]),
    [
      ['quarterly', '2021-03-31', '2021-05-05'],
      ['quarterly', '2021-06-30', '2021-08-04'],
      ['quarterly', '2021-09-30', '2021-11-03'],
      ['annual', '2021-12-31', '2022-02-10'],
      ['quarterly', '2021-12-31', '2022-02-10'],
    ],
  );
  const last = find(records, 'quarterly', '2023-12-31');
  assert.deepEqual(
    ['filingType', 'fiscalQuarter', 'fiscalYear', 'currency'].map((name) => last[name]),
    ['10-K', 4, 2023, 'USD'],
  );
  assert.equal(find(records, 'annual', '2023-12-31')['fiscalQuarter'], 0);
});

test('the last quarter is its year minus the earlier quarters, with any concepts of a year', () => {
  const records = madeOf('INCOME', FACTS);
  for (const [at, quarter] of GROWING.quarters.entries()) {
    const [year, ended] = [2021 + Math.floor(at / 4), ['03-31', '06-30', '09-30', '12-31'][at % 4]];
    const record = find(records, 'quarterly', `${year}-${ended}`);
    const { cost, expenses, revenue, tax } = quarter;
    const operating = revenue - cost - expenses;
    const expected = {
      totalRevenue: revenue,
      grossProfit: revenue - cost,
      operatingIncome: operating,
      operatingExpense: cost + expenses,
      pretaxIncome: operating,
      incomeTax: tax,
      netIncome: operating - tax,
      netIncomeBasic: operating - tax,
      ebit: operating,
      otherIncomeExpenseNet: 0,
    };
    for (const [name, millions] of Object.entries(expected)) {
      assert.equal(record[name], millions * MILLION, `${year} ${ended} ${name}`);
    }
  }
});

test('sheets add up, and cash of a quarter is the change since the quarter before', () => {
  for (const sheet of madeOf('BALANCE_SHEET', FACTS)) {
    const [assets, liabilities, equity] = [
      'totalAssets',
      'totalLiabilities',
      'shareholderEquity',
    ].map((name) => Number(sheet[name]));
    assert.equal(assets, (liabilities ?? 0) + (equity ?? 0), String(sheet['fiscalDate']));
    assert.equal(liabilities, 300 * MILLION, 'no filing has it: assets minus equity');
  }
  const cash = madeOf('CASH_FLOW', FACTS);
  const sheets = madeOf('BALANCE_SHEET', FACTS).filter((one) => one['period'] === 'quarterly');
  for (const [at, sheet] of sheets.entries()) {
    const before = sheets[at - 1];
    if (before === undefined) continue;
    const flow = find(cash, 'quarterly', String(sheet['fiscalDate']));
    const more = Number(sheet['currentCash']) - Number(before['currentCash']);
    assert.equal(flow['cashChange'], more, String(sheet['fiscalDate']));
    assert.ok(Object.is(flow['capitalExpenditures'], 0));
  }
});

const changed = (accession: string, concept: string, more: number): readonly XbrlFact[] =>
  FACTS.map((fact) =>
    fact.accession === accession && fact.concept === concept
      ? { ...fact, value: fact.value + more }
      : fact,
  );

test('an amended fact of a later filing is used, and the day of the report stays', () => {
  // The 10-K of 2022 reports 2021 again, with another value.
  const records = madeOf('INCOME', changed('0000320193-22-000007', 'NetIncomeLoss', 7 * MILLION));
  const before = find(madeOf('INCOME', FACTS), 'annual', '2021-12-31');
  const after = find(records, 'annual', '2021-12-31');
  assert.equal(Number(after['netIncome']) - Number(before['netIncome']), 7 * MILLION);
  assert.equal(after['reportDate'], '2022-02-10');
  const amended = FACTS.filter(({ accession }) => accession === '0000320193-21-000003').map(
    (fact) => ({ ...fact, accession: 'A', form: '10-K/A', filed: '2022-06-01', value: 1 }),
  );
  const again = madeOf('BALANCE_SHEET', [
    ...FACTS.filter(({ filed }) => filed < '2022-06'),
    ...amended,
  ]);
  const sheet = find(again, 'annual', '2021-12-31');
  assert.deepEqual(
    [sheet['totalAssets'], sheet['reportDate'], sheet['filingType']],
    [1, '2022-02-10', '10-K'],
  );
});

test('a part that is reported alone later does not spoil a sheet that added up', () => {
  const alone = FACTS.filter(
    ({ concept, end }) => concept === 'StockholdersEquity' && end === '2021-12-31',
  ).map((fact) => ({ ...fact, accession: 'Z', filed: '2024-06-01', value: fact.value - MILLION }));
  const sheet = find(madeOf('BALANCE_SHEET', [...FACTS, ...alone]), 'annual', '2021-12-31');
  assert.equal(
    sheet['totalAssets'],
    Number(sheet['totalLiabilities']) + Number(sheet['shareholderEquity']),
  );
});

test('other units, forms and times make no record, odd ones break nothing', () => {
  const of = (change: Partial<XbrlFact>): number =>
    madeOf(
      'INCOME',
      FACTS.map((fact) => ({ ...fact, ...change })),
    ).length;
  assert.equal(of({ unit: 'USD/shares' }), 0);
  assert.equal(of({ unit: 'EUR' }), 15);
  assert.equal(of({ form: '8-K' }), 0);
  assert.equal(of({ start: '1900-01-01' }), 0);
  assert.equal(of({ filed: '1999-01-01' }), 0, 'filed before it ended');
  assert.equal(of({ fiscalPeriod: null, fiscalYear: null }), 15);
  assert.deepEqual(madeOf('INCOME', []), []);
  const odd = Array.from({ length: 3_000 }, (_, at): XbrlFact => {
    const end = new Date(Date.UTC(1600, 0, 1) + at * 91 * 86_400_000).toISOString().slice(0, 10);
    const start = new Date(Date.parse(end) - 365 * 86_400_000).toISOString().slice(0, 10);
    return {
      concept: 'NetIncomeLoss',
      unit: 'USD',
      start,
      end,
      value: 1,
      form: '10-K',
      filed: '9999-01-01',
      accession: String(at),
      fiscalPeriod: 'FY',
      fiscalYear: 1,
    };
  });
  const { notes, records } = statementReader('INCOME').buildRecords(odd);
  assert.equal(records.length, 1, 'all of them on one day');
  assert.match(notes.join(), /999 periods were reported on the day of a later one/);
});

test('every formula of the table names concepts, or members of its statement, and none needs itself', () => {
  for (const [id, members] of Object.entries(STATEMENT_MEMBERS)) {
    const properties = new Set(inputOf(id)?.properties.map(({ name }) => name));
    const reached = (name: string, path: readonly string[]): void => {
      assert.ok(!path.includes(name), `${id}: ${[...path, name].join(' -> ')}`);
      for (const term of (members[name] ?? []).flatMap(parseFormula)) {
        if (term.kind !== 'member') continue;
        assert.ok(Object.hasOwn(members, term.name), `${id} ${name}: ${term.name}`);
        reached(term.name, [...path, name]);
      }
    };
    for (const name of Object.keys(members)) {
      assert.ok(properties.has(name), `${id} has no ${name}`);
      reached(name, []);
    }
  }
});
