// All statements of one company together, from its reported facts: one record a quarter and a year.
import type { FactReader } from '../../store/lake/datasets/xbrlFacts.ts';
import { mergeStatements } from './financials.ts';
import { STATEMENT_IDS } from './concepts.ts';
import { statementReader } from './statements.ts';

type StatementRecord = ReturnType<FactReader['buildRecords']>['records'][number];

/** Returns the reader that converts facts to records of FINANCIALS and FUNDAMENTALS. */
export function allStatementsReader(): FactReader {
  const readers = STATEMENT_IDS.map(statementReader);
  return {
    concepts: [...new Set(readers.flatMap(({ concepts }) => concepts))],
    buildRecords: (facts) => {
      const results = readers.map((reader) => reader.buildRecords(facts));
      const periods = new Map<string, StatementRecord[]>();
      for (const record of results.flatMap(({ records }) => records)) {
        const name = `${record['period']} ${record['reportDate']}`;
        const group = periods.get(name);
        if (group === undefined) periods.set(name, [record]);
        else group.push(record);
      }
      const notes = [...new Set(results.flatMap((one) => one.notes))];
      return { records: [...periods.values()].map(together), notes };
    },
  };
}

/** Whether a member is an amount; the others identify the period. */
const isAmount = ([name, value]: readonly [string, unknown]): boolean =>
  typeof value === 'number' && !name.startsWith('fiscal');

function together(statements: readonly StatementRecord[]): StatementRecord {
  const headings = statements.map((one) =>
    Object.fromEntries(Object.entries(one).filter((entry) => !isAmount(entry))),
  );
  const amounts = statements.map(
    (one) => Object.fromEntries(Object.entries(one).filter(isAmount)) as Record<string, number>,
  );
  return { ...Object.assign({}, ...headings), ...mergeStatements(amounts) } as StatementRecord;
}
