// A JSON document that holds its records somewhere inside: which of its lists they may be.
import type { Row } from '../../store/duckdb/protocol.ts';
import { Failure } from '../../store/base/failure.ts';
import { isJsonPath } from '../values/jsonPath.ts';
import { type JsonFraming, RECORD_BYTES_MAX } from '../values/relation.ts';
import { literal } from '../../store/duckdb/sqlText.ts';

/** Bytes of a document that is looked through. */
const DOCUMENT_BYTES_MAX = 64 * 1024 ** 2;
/** Lists that are told, the longest first. */
const TOLD_MAX = 5;

/** False where a second line is to be seen: each of them is a record then. */
export function isAlone(head: Buffer, framing: JsonFraming): boolean {
  if (framing === 'objects') return true;
  return framing === 'lines' && !head.toString('utf8').trim().includes('\n');
}

/** Lists of objects in the only record of a file, three members deep: `path`, `objects`, `type`. */
export const listsStatement = (path: string): string =>
  `WITH records AS MATERIALIZED (SELECT json FROM read_json_objects(${literal(path)},
      format = 'unstructured', maximum_object_size = ${DOCUMENT_BYTES_MAX}) LIMIT 2),
    record AS (SELECT json FROM records WHERE (SELECT count(*) FROM records) = 1),
    one AS (SELECT '$.' || e.key AS path, e.value AS value
      FROM record, json_each(record.json) e),
    two AS (SELECT one.path || '.' || e.key AS path, e.value AS value
      FROM (SELECT * FROM one WHERE json_type(value) = 'OBJECT') one, json_each(one.value) e),
    three AS (SELECT two.path || '.' || e.key AS path, e.value AS value
      FROM (SELECT * FROM two WHERE json_type(value) = 'OBJECT') two, json_each(two.value) e)
    SELECT path, json_array_length(value) AS objects,
      (SELECT json_extract_string(json, '$.type') FROM record) AS type
    FROM (FROM one UNION ALL FROM two UNION ALL FROM three)
    WHERE json_type(value) = 'ARRAY' AND json_type(value, '$[0]') = 'OBJECT'
    ORDER BY 2 DESC, 1 LIMIT 20`;

/** Documents whose only records are in their list, be it as short as it may. */
const COLLECTIONS = ['FeatureCollection', 'Topology'];

/** @throws Failure InvalidBody naming the lists, where there are any. */
export function refuseDocument(lists: readonly Row[], bytes: number): void {
  const found = lists
    .map((row) => ({ path: `${String(row['path'])}[*]`, objects: Number(row['objects']) }))
    .filter(({ path }) => isJsonPath(path));
  const collection = COLLECTIONS.includes(String(lists[0]?.['type']));
  if (!found.some(({ objects }) => objects > 1 || collection)) {
    if (bytes <= RECORD_BYTES_MAX) return;
    const told = `the body is one JSON document of ${bytes} bytes without a list of objects`;
    const rule = `a record has at most ${RECORD_BYTES_MAX}; say jsonPath if its records are deeper`;
    throw new Failure('InvalidBody', `${told}: ${rule}, or write one object for each record`);
  }
  const told = found
    .slice(0, TOLD_MAX)
    .map(({ objects, path }) => `${path} has ${objects} object${objects === 1 ? '' : 's'}`);
  const [{ path } = { path: '' }] = found;
  const rule = 'the body is one JSON document, no list of records';
  const say = `say jsonPath=${path} (--json-path '${path}'), or as=json if it is one record`;
  throw new Failure('InvalidBody', `${rule}: ${told.join(', ')}; ${say}`);
}
