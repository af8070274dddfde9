// Previews a file before it is loaded: its first records, with the types that its head suggests.
import { toColumnType } from '../../store/lake/versions/columns.ts';
import {
  type ColumnMapping,
  type RecordSchema,
  listRequired,
} from '../../store/lake/datasets/datasets.ts';
import type { DateOrder } from '../values/dateFormats.ts';
import { openRelation } from '../decode/decode.ts';
import { firstLoad } from '../conform/firstLoad.ts';
import { withExpectedDates } from '../values/infer.ts';
import { resolveOpenColumns, settleContext } from '../conform/wholeFileTypes.ts';
import { fromClause, buildValue } from '../values/relation.ts';
import { type IngestServices, silentEvents } from '../conform/load.ts';
import { identifier } from '../../store/duckdb/sqlText.ts';
import type { Workbench } from '../bytes/workbench.ts';

interface Suggestion {
  readonly schema: RecordSchema;
  readonly mapping: ColumnMapping;
  readonly numbered: boolean;
}

/** Suggests a schema for a file, and the index that its records prove. @throws Failure InvalidBody. */
export async function suggestSchema(
  path: string,
  options: { readonly jsonPath?: string | undefined; readonly dateOrder?: DateOrder },
  services: Pick<IngestServices, 'clock' | 'defaultsOf'>,
  bench: Workbench,
): Promise<Suggestion> {
  const { dateOrder, jsonPath } = options;
  const order = dateOrder === undefined ? {} : { dateOrder };
  const opening = { ...toOpening(path, jsonPath), ...order };
  const opened = await openRelation(opening, bench);
  const rejectsMax = Number.MAX_SAFE_INTEGER;
  const load = {
    ...opening,
    workspace: '',
    dataset: '',
    duplicates: 'ignore',
    rejectsMax,
  } as const;
  const run = { load, services, bench, events: silentEvents };
  const loaded = await firstLoad(
    run,
    await resolveOpenColumns(settleContext(run), opened, undefined),
  );
  const { mapping, schema } = loaded.draft;
  const index = { mapping, numbered: !loaded.isProved, inferred: false };
  return {
    schema: { ...schema, required: listRequired(index) },
    mapping,
    numbered: index.numbered,
  };
}

const toOpening = (path: string, jsonPath: string | undefined) =>
  jsonPath === undefined ? { path } : { path, jsonPath };

/** The first `most` records of a file as a JSON array. @throws as `suggestSchema`. */
export async function sampleRecords(
  path: string,
  jsonPath: string | undefined,
  most: number,
  bench: Workbench,
): Promise<string> {
  const relation = await openRelation(toOpening(path, jsonPath), bench);
  const columns = Object.entries(withExpectedDates(relation.columns, undefined)).map(
    ([name, property], at) => ({
      id: at + 1,
      name,
      type: toColumnType(property),
      nullable: true,
    }),
  );
  const values = columns.map(
    (column) => `${buildValue(relation, column, false)} AS ${identifier(column.name)}`,
  );
  const from = fromClause(relation, columns, false);
  const statements = [`SELECT ${values.join(', ')} FROM ${from} LIMIT ${most}`];
  const question = { files: [relation.path], statements, deadlineMs: bench.deadlineMs };
  const { bytes } = await bench.pool.body(question, 'json');
  return Buffer.from(bytes).toString('utf8');
}
