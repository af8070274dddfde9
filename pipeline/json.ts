// JSON: an array of objects, objects on lines, or an array below a path. A sample tells the types;
// names of members are taken from every record, since a rare member may come late.
import { checkPropertyNames, PROPERTIES_MAX } from '../store/columns.ts';
import type { Row } from '../store/duckdb/protocol.ts';
import { Failure } from '../store/failure.ts';
import type { DateOrder } from './dateFormats.ts';
import { inferJsonType } from './infer.ts';
import { type JsonFraming, jsonRecords, type Relation } from './relation.ts';

/** Records that are looked at for types; the rest corrects the guess. */
const SAMPLE_RECORDS = 2_000;
/** Steps of a path: the subset `$`, `.name`, `[*]` (INTERFACE.md 3.7). */
const PATH = /^\$(?:\.[A-Za-z_][A-Za-z0-9_-]{0,127}|\[\*\]){0,20}$/;

/** `$.data.rows` -> `$.data.rows[*]`: the records are the elements of the array it names. */
export function checkJsonPath(path: string): string {
  if (!PATH.test(path)) {
    throw new Failure('InvalidParameter', '"jsonPath" must be $ with steps .name and [*]');
  }
  return path.endsWith('[*]') ? path : `${path}[*]`;
}

export function framingOf(head: Buffer, jsonPath: string | undefined): JsonFraming {
  if (jsonPath !== undefined) return 'document';
  return head.toString('utf8').trimStart().startsWith('[') ? 'array' : 'lines';
}

type JsonRelation = Extract<Relation, { kind: 'json' }>;

/** Two statements: sampled records, then the names of all members in the order they appear. */
export function describeJson(relation: JsonRelation): readonly string[] {
  const records = jsonRecords(relation);
  const objects = `(SELECT row_number() OVER () AS n, json FROM ${records}
    WHERE json_type(json) = 'OBJECT')`;
  return [
    `SELECT json FROM ${records} WHERE json_type(json) = 'OBJECT' LIMIT ${SAMPLE_RECORDS}`,
    `SELECT name FROM (
        SELECT n, unnest(json_keys(json)) AS name,
          generate_subscripts(json_keys(json), 1) AS place
        FROM ${objects})
      GROUP BY name ORDER BY min(n), arg_min(place, n) LIMIT ${PROPERTIES_MAX + 1}`,
  ];
}

/** The relation with its columns, from the rows of `describeJson`. */
export function jsonRelation(
  empty: JsonRelation,
  sampled: readonly Row[],
  named: readonly Row[],
  order?: DateOrder,
): Relation {
  if (named.length === 0) throw new Failure('InvalidBody', 'the body has no JSON object');
  const names = named.map((row) => String(row['name']));
  checkPropertyNames('the body', names);
  const records = sampled.map((row) => JSON.parse(String(row['json'])) as Record<string, unknown>);
  const columns = names.map((name) => ({
    name,
    inferred: inferJsonType(
      records.map((record) => (Object.hasOwn(record, name) ? record[name] : null)),
      order,
    ),
  }));
  return { ...empty, columns };
}
