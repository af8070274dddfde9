// A JSON document whose path takes names of members along (`$.facts.{concept}.units.{unit}[*]`), written
// again as one record a line that has them as properties.
import { join } from 'node:path';
import { Failure } from '../../store/base/failure.ts';
import { newUuid } from '../../store/base/random.ts';
import { literal } from '../../store/duckdb/sqlText.ts';
import { ask } from '../batch/batchStatements.ts';
import type { Workbench } from '../bytes/workbench.ts';
import { propertiesOf, stepsOf } from '../values/jsonPath.ts';
import type { Relation } from '../values/relation.ts';

type Document = Extract<Relation, { kind: 'json' }>;

/** Bytes of the copy: names are written with each record, so that few long ones could fill a disk. */
const COPY_BYTES_MAX = 1024 ** 3;
/** Bytes of one document that is read at all, as of any that is read by a path. */
const DOCUMENT_BYTES_MAX = 64 * 1024 ** 2;

/**
 * @returns the path of the copy, JSON of a record a line
 * @throws Failure InvalidBody where nothing is at the path, for records that have a member of such a name
 * already, and for names that would be written too often
 */
export async function keyedCopy(document: Document, bench: Workbench): Promise<string> {
  const { jsonPath } = document;
  const names = propertiesOf(jsonPath);
  const rows = rowsAt(document);
  const taken = names.map((name) => `count(*) FILTER (WHERE ${hasMember(name)}) AS "${name}"`);
  const sizes = [...names.map((_, at) => `strlen(k${at})`), 'strlen(v)', '64'].join(' + ');
  const counting = `SELECT count(*) AS _records, sum(${sizes}) AS _bytes, ${taken.join(', ')}
    FROM (${rows})`;
  const [[counted] = []] = await ask(bench, document, [counting]);
  if (Number(counted?.['_records'] ?? 0) === 0) {
    throw new Failure('InvalidBody', `jsonPath: nothing is at ${jsonPath} of the body`);
  }
  const clash = names.find((name) => Number(counted?.[name]) > 0);
  if (clash !== undefined) {
    const told = `jsonPath: records have a member ${clash} already`;
    throw new Failure('InvalidBody', `${told}; say {${clash}_} or another name in the path`);
  }
  if (Number(counted?.['_bytes']) > COPY_BYTES_MAX) {
    const told = `jsonPath: its names with each record are over ${COPY_BYTES_MAX} bytes`;
    throw new Failure('InvalidBody', `${told}; leave some of them out of the path`);
  }
  const path = join(bench.folder, newUuid());
  const told = names.map((name, at) => `${literal(`"${name}":`)} || to_json(k${at})`);
  const record = `'{' || ${told.join(` || ',' || `)} ||
    CASE v WHEN '{}' THEN '}' ELSE ',' || substr(v, 2) END`;
  const line = `CASE WHEN json_type(v) = 'OBJECT' THEN ${record} ELSE CAST(v AS VARCHAR) END`;
  const copy = `COPY (SELECT ${line} FROM (${rows})) TO ${literal(path)}
    (FORMAT csv, HEADER false, DELIMITER e'\\x01', QUOTE '', ESCAPE '')`;
  await ask(bench, document, [copy]);
  return path;
}

const hasMember = (name: string): string =>
  `json_type(v) = 'OBJECT' AND json_exists(v, '$."${name}"')`;

/**
 * Values `v` at the path, with the names `k0`, `k1` … on the way. Keys and values are unnested side by side:
 * 100,000 records of 50,000 members take 0.2 s, and with json_each, which is joined, minutes.
 */
function rowsAt({ jsonPath, path }: Document): string {
  const first = `SELECT json AS v FROM read_json_objects(${literal(path)}, format = 'unstructured',
    maximum_object_size = ${DOCUMENT_BYTES_MAX})`;
  let keys = '';
  let count = 0;
  return stepsOf(jsonPath).reduce((rows, step) => {
    if (step.kind === 'member') {
      return `SELECT ${keys}v FROM (SELECT ${keys}json_extract(v, '$."${step.name}"') AS v
        FROM (${rows})) WHERE v IS NOT NULL`;
    }
    if (step.kind === 'elements') {
      return `SELECT ${keys}unnest(json_extract(v, '$[*]')) AS v FROM (${rows})
        WHERE json_type(v) = 'ARRAY'`;
    }
    const own = `k${count}`;
    const made = `SELECT ${keys}unnest(json_keys(v)) AS ${own}, unnest(json_extract(v, '$.*')) AS v
      FROM (${rows}) WHERE json_type(v) = 'OBJECT'`;
    keys += `${own}, `;
    count += 1;
    return made;
  }, first);
}
