// A look at a file before anything is made of it: its first records as its own head suggests them.
import { columnTypeOf } from '../store/columns.ts';
import type { ColumnMapping, RecordSchema } from '../store/datasets.ts';
import { identifier } from '../store/duckdb/instance.ts';
import type { Workbench } from './batch.ts';
import { openRelation } from './decode.ts';
import { guessMapping, schemaOf, wantedDates } from './infer.ts';
import { fromClause, type Relation, valueOf } from './relation.ts';

interface Suggestion {
  readonly schema: RecordSchema;
  readonly mapping: ColumnMapping;
}

/** The schema that the head of a file suggests. @throws Failure InvalidBody for no readable file. */
export async function suggestSchema(
  path: string,
  jsonPath: string | undefined,
  bench: Workbench,
): Promise<Suggestion> {
  return suggested(await openRelation(openingOf(path, jsonPath), bench));
}

const openingOf = (path: string, jsonPath: string | undefined) =>
  jsonPath === undefined ? { path } : { path, jsonPath };

function suggested({ columns }: Relation): Suggestion {
  const properties = wantedDates(columns, undefined);
  const mapping = guessMapping(properties);
  return { schema: schemaOf(properties, mapping), mapping };
}

/** The first records of a file, at most `most`, as a JSON array. @throws as `suggestSchema`. */
export async function sampleRecords(
  path: string,
  jsonPath: string | undefined,
  most: number,
  bench: Workbench,
): Promise<string> {
  const relation = await openRelation(openingOf(path, jsonPath), bench);
  const { schema } = suggested(relation);
  const columns = Object.entries(schema.properties).map(([name, property], at) => ({
    id: at + 1,
    name,
    type: columnTypeOf(property),
    nullable: true,
  }));
  const values = columns.map(
    (column) => `${valueOf(relation, column, false)} AS ${identifier(column.name)}`,
  );
  const from = fromClause(relation, columns, false);
  const statements = [`SELECT ${values.join(', ')} FROM ${from} LIMIT ${most}`];
  const question = { files: [relation.path], statements, deadlineMs: bench.deadlineMs };
  const { bytes } = await bench.pool.body(question, 'json');
  return Buffer.from(bytes).toString('utf8');
}
