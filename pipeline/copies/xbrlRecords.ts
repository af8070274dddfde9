// Rewrites a file of single values that a company reported (a concept, its unit and its days in each record)
// as the records of its dataset: one per quarter or year.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../store/base/failure.ts';
import { newUuid } from '../../store/base/random.ts';
import type { FactReader, XbrlFact } from '../../store/lake/datasets/xbrlFacts.ts';
import type { Row } from '../../store/duckdb/protocol.ts';
import { identifier, literal } from '../../store/duckdb/sqlText.ts';
import { runStatements } from '../batch/batchStatements.ts';
import { detectTextContent } from '../bytes/content.ts';
import type { Workbench } from '../bytes/workbench.ts';
import { fromClause, type Relation } from '../values/relation.ts';

/** JSON path of the facts in the SEC's document of all facts of a company. */
export const COMPANY_FACTS = '$.facts.{taxonomy}.{concept}.units.{unit}[*]';

/** Bytes within which such a document is recognized. */
const DOCUMENT_HEAD = 4_096;

/** Whether a text is the document of a company; else it is a list of facts. */
export const isCompanyDocument = (head: Buffer): boolean =>
  detectTextContent(head) === 'json' && head.toString('utf8', 0, DOCUMENT_HEAD).includes('"facts"');

/** Maximum facts in memory; a company has about ten thousand of the concepts that are read. */
const FACTS_MAX = 200_000;
const TAXONOMY = 'us-gaap';

/** Column names as the SEC writes them. */
const NEEDED = ['concept', 'unit', 'end', 'val', 'accn', 'form', 'filed'] as const;
const OPTIONAL = ['start', 'fy', 'fp', 'taxonomy'] as const;

interface FactCopy {
  readonly path: string;
  readonly notes: readonly string[];
}

/**
 * @returns the path of the copy, one JSON record per line
 * @throws Failure InvalidBody for a file that lacks a column, has none of the concepts, or too many values
 */
export async function writeXbrlRecords(
  relation: Relation,
  { concepts, buildRecords }: FactReader,
  bench: Workbench,
): Promise<FactCopy> {
  const rows = factRows(relation, concepts);
  const whole = `value IS NOT NULL AND "end" IS NOT NULL AND filed IS NOT NULL
    AND accession IS NOT NULL AND (start IS NULL) = (given IS NULL)`;
  const statements = [
    `SELECT count(*) AS facts, count(*) FILTER (WHERE ${whole}) AS good FROM (${rows})`,
    `SELECT * EXCLUDE (given) FROM (${rows}) WHERE ${whole} LIMIT ${FACTS_MAX + 1}`,
  ];
  const [[counted] = [], facts = []] = await runStatements(bench, relation, statements);
  const all = Number(counted?.['facts'] ?? 0);
  if (all === 0) refuse(`the file has no value of the ${TAXONOMY} concepts that are read`);
  if (facts.length > FACTS_MAX) {
    refuse(
      `the file has ${Number(counted?.['good'])} values of them, at most ${FACTS_MAX} are read`,
    );
  }
  const { notes, records } = buildRecords(facts.map(factOf));
  if (records.length === 0) refuse('no period is known: the file has no 10-K, 10-Q or 20-F');
  const path = join(bench.folder, newUuid());
  const lines = records.map((record) => `${JSON.stringify(record)}\n`);
  await writeFile(path, lines.join(''), { mode: 0o600 });
  const broken = all - facts.length;
  const faults = `facts: ${broken} without a number, a day or a filing stay out`;
  return {
    path,
    notes: [
      `facts: ${records.length} periods were made of ${facts.length} values`,
      ...(broken === 0 ? [] : [faults]),
      ...notes.map((note) => `facts: ${note}`),
    ],
  };
}

/** SELECT of the facts, as texts that are cast; `given` is the file's text for the first day. */
function factRows(relation: Relation, concepts: readonly string[]): string {
  const names = new Set(relation.columns.map(({ name }) => name));
  const missing = NEEDED.filter((name) => !names.has(name));
  if (missing.length > 0) {
    const problem = `records have no ${missing.join(', ')}`;
    refuse(
      `${problem}; each is one value with ${NEEDED.join(', ')}, and start where it is of a time`,
    );
  }
  const columns = [...NEEDED, ...OPTIONAL]
    .filter((name) => names.has(name))
    .map((name, at) => ({ id: at + 1, name, type: 'varchar' as const, nullable: true }));
  const text = (name: string): string =>
    names.has(name) ? `nullif(trim(CAST(${identifier(name)} AS VARCHAR)), '')` : 'NULL';
  const day = (name: string): string =>
    `CASE WHEN length(${text(name)}) = 10 THEN CAST(TRY_CAST(${text(name)} AS DATE) AS VARCHAR) END`;
  const own = names.has('taxonomy') ? ` AND taxonomy = '${TAXONOMY}'` : '';
  const value = `TRY_CAST(${text('val')} AS DOUBLE)`;
  return `SELECT concept, coalesce(${text('unit')}, '') AS unit, ${day('start')} AS start,
      ${text('start')} AS given, ${day('end')} AS "end",
      CASE WHEN isfinite(${value}) THEN ${value} END AS value, ${text('accn')} AS accession,
      TRY_CAST(${text('fy')} AS INTEGER) AS year, ${text('fp')} AS period,
      coalesce(${text('form')}, '') AS form, ${day('filed')} AS filed
    FROM ${fromClause(relation, columns, false)}
    WHERE concept IN (${concepts.map(literal).join(', ')})${own}`;
}

const factOf = (row: Row): XbrlFact => ({
  concept: String(row['concept']),
  unit: String(row['unit']),
  start: row['start'] === null ? null : String(row['start']),
  end: String(row['end']),
  value: Number(row['value']),
  accession: String(row['accession']),
  fiscalYear: row['year'] === null ? null : Number(row['year']),
  fiscalPeriod: row['period'] === null ? null : String(row['period']),
  form: String(row['form']),
  filed: String(row['filed']),
});

function refuse(rule: string): never {
  throw new Failure('InvalidBody', `facts: ${rule}`);
}
