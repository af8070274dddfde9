// Reads JSON: an array of objects, objects on lines, or an array below a path. Types are inferred from a
// sample; names of members are taken from every record, since a rare member may appear late.
import { checkPropertyNames, PROPERTIES_MAX } from '../../../store/lake/versions/columns.ts';
import type { Row } from '../../../store/duckdb/protocol.ts';
import { Failure } from '../../../store/base/failure.ts';
import { HEAD_BYTES } from '../../bytes/content.ts';
import type { DateOrder } from '../../values/dateFormats.ts';
import { inferJsonType, type Inferred } from '../../values/infer.ts';
import { restoreNumbers, roundedTest } from '../../values/jsonDigits.ts';
import { MEMBERS_MAX, findJsonSpelling, spellingPattern } from '../../values/jsonSpelling.ts';
import { IS_OBJECT, type JsonFraming, jsonRecords } from '../../values/jsonRecords.ts';
import { RECORD_BYTES_MAX, RECORD_TOO_LARGE, type Relation } from '../../values/relation.ts';
import { literal } from '../../../store/duckdb/sqlText.ts';

/** Records that are sampled for types; later records correct the guess. */
const SAMPLE_RECORDS = 2_000;
/** Bytes of the sample: each record is parsed as a whole, which blocks the event loop. */
const SAMPLE_BYTES = 512 * 1024;
export function detectFraming(head: Buffer): JsonFraming {
  const text = head
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .trimStart();
  if (text.startsWith('[')) return 'array';
  // An object over several lines: its first line is incomplete, and the second does not begin an object.
  const [first = '', second] = text.split('\n').filter((line) => line.trim() !== '');
  if (second === undefined) return head.length === HEAD_BYTES ? 'objects' : 'lines';
  if (isObject(first)) return 'lines';
  const isContinued = /[,:[{]$/.test(first.trimEnd());
  return second.trimStart().startsWith('{') && !isContinued ? 'lines' : 'objects';
}

function isObject(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

export type JsonRelation = Extract<Relation, { kind: 'json' }>;

/**
 * SELECT of sampled records as `json`, with the `names` of their members if they differ from
 * those of the record before. A record that is too large to be stored has neither.
 */
export const sampleStatement = (relation: JsonRelation): string =>
  `SELECT json, nullif(names, lag(names) OVER ()) AS names, records, large FROM
    (SELECT json, json_keys(json) AS names, count(*) OVER () AS records,
      min(n) FILTER (WHERE large) OVER () AS large,
      sum(strlen(json)) OVER (ROWS UNBOUNDED PRECEDING) AS bytes FROM
        (SELECT row_number() OVER () AS n, strlen(json) > ${RECORD_BYTES_MAX} AS large,
            CASE WHEN strlen(json) <= ${RECORD_BYTES_MAX} THEN json ELSE '{}' END AS json
          FROM ${jsonRecords(relation)} WHERE ${IS_OBJECT} LIMIT ${SAMPLE_RECORDS}))
    WHERE bytes <= ${SAMPLE_BYTES}`;

/** The result of sampling the first records. */
interface JsonSample {
  /** The file has no other records. */
  readonly whole: boolean;
  /** Names of a record's members in their order, for each record with other names than the one before. */
  readonly lists: readonly (readonly string[])[];
  /** All names in the order of their appearance. */
  readonly names: readonly string[];
  readonly inferred: (name: string) => Inferred;
  /** Some numbers may have more than 15 digits. */
  readonly hasLongNumbers: boolean;
  /** The first record that is too large to be stored. */
  readonly tooLarge: number | undefined;
}

/** Empty for a text that only DuckDB accepts as JSON (a last comma, NaN): the file is then rewritten. */
function parseRecord(row: Row): readonly Readonly<Record<string, unknown>>[] {
  try {
    return [JSON.parse(restoreNumbers(String(row['json']))) as Record<string, unknown>];
  } catch {
    return [];
  }
}

/** @param rows of `sampleStatement` */
export function readSample(
  rows: readonly Row[],
  order?: DateOrder,
  nulls?: readonly string[],
): JsonSample {
  const lists = rows.flatMap((row) =>
    row['names'] === null ? [] : [row['names'] as readonly string[]],
  );
  const names = [...new Set(lists.flat())];
  const types = new Map<string, Inferred>();
  let values: ReadonlyMap<string, readonly unknown[]> | undefined;
  const inferred = (name: string): Inferred => {
    values ??= collectValues(rows.flatMap(parseRecord));
    const type = types.get(name) ?? inferJsonType(values.get(name) ?? [], order, nulls);
    types.set(name, type);
    return type;
  };
  const records = Number(rows[0]?.['records'] ?? 0);
  const whole = records < SAMPLE_RECORDS && rows.length === records;
  const large = rows[0]?.['large'] ?? undefined;
  const hasLongNumbers = rows.some((row) => /[\d.]{16}/.test(String(row['json'])));
  return {
    whole,
    lists,
    names,
    inferred,
    hasLongNumbers,
    tooLarge: large === undefined ? large : Number(large),
  };
}

/** Collects the values of each member in one pass: names times records may be many. */
function collectValues(
  records: readonly Readonly<Record<string, unknown>>[],
): ReadonlyMap<string, readonly unknown[]> {
  const values = new Map<string, unknown[]>();
  for (const record of records) {
    for (const [name, value] of Object.entries(record)) {
      const list = values.get(name);
      if (list === undefined) values.set(name, [value]);
      else list.push(value);
    }
  }
  return values;
}

/** A member that occurs only in a record that is too large to be stored is not a column. */
const IS_RECORD = `${IS_OBJECT} AND strlen(json) <= ${RECORD_BYTES_MAX}`;

/**
 * A record may have syntax that only DuckDB accepts: a comma before a bracket, NaN, an infinity; or a number
 * that DuckDB rounds. Texts may match, too; only a scan decides. A line that is not JSON at all is null.
 */
const IS_SUSPECT = `json IS NULL OR ${roundedTest('json')} OR
  regexp_matches(json, ',\\s*[}\\]]|[\\[:,]\\s*-?(?:[nN][aA][nN]|[iI][nN][fF])')`;
/** Replaces the names of a suspect record. */
const SUSPECTS = `[chr(1)]`;

/**
 * SELECT of one row: the number of distinct lists of members' names of records that do not match `pattern` (a
 * record that is not an object counts as a list too), and all `names` on these lists, in no order. Lists are
 * few, names are many: to group lists takes 0.6 s of processor time for 1 M records of 7 members, on
 * every thread; to number and group their names took 1.0 on one. To match them all takes 0.6.
 * @param pattern of a whole record (`spellingPattern`); undefined: none matches
 * @param suspects also counts lists of records that may not be strict JSON, or have a number to rewrite
 * @param hasLongNumbers the pattern matches numbers that a double rounds: such records count as unlike
 */
export function unlikeStatement(
  relation: JsonRelation,
  pattern: string | undefined,
  suspects: boolean,
  hasLongNumbers: boolean,
): string {
  const exact = hasLongNumbers ? `AND NOT ${roundedTest('json')}` : '';
  const like = `regexp_full_match(json, ${literal(pattern ?? '')})
    AND strlen(json) <= ${RECORD_BYTES_MAX} ${exact}`;
  const suspect = suspects ? `WHEN ${IS_SUSPECT} THEN ${SUSPECTS}` : '';
  const lists = `CASE ${pattern === undefined ? '' : `WHEN ${like} THEN NULL`} ${suspect}
    WHEN ${IS_RECORD} THEN json_keys(json) ELSE [] END`;
  return `WITH unlike AS MATERIALIZED
      (SELECT DISTINCT ${lists} AS names FROM ${jsonRecords(relation)})
    SELECT (SELECT count(names) FROM unlike) AS lists,
      (SELECT count(*) FROM unlike
        WHERE names = ${SUSPECTS} OR len(names) > len(list_distinct(names))) AS suspects,
      (SELECT list(name) FROM
        (SELECT DISTINCT unnest(names) AS name FROM unlike LIMIT ${PROPERTIES_MAX + 1})) AS names`;
}

/** SELECT of the names of all members in order of appearance, which is slow: it numbers the records. */
export const namesInOrder = (relation: JsonRelation): string =>
  `SELECT name FROM (
      SELECT n, unnest(names) AS name, generate_subscripts(names, 1) AS place FROM
        (SELECT names, min(n) AS n FROM
          (SELECT row_number() OVER () AS n, json_keys(json) AS names
            FROM ${jsonRecords(relation)} WHERE ${IS_RECORD})
          GROUP BY names))
    GROUP BY name ORDER BY min((n, place)) LIMIT ${PROPERTIES_MAX + 1}`;

/** The pattern that all sampled records match; undefined if there is none. */
export function samplePattern(sample: JsonSample): string | undefined {
  const { hasLongNumbers, inferred, lists, names } = sample;
  if (names.length > MEMBERS_MAX) return undefined;
  const spelled = new Map(names.map((name) => [name, findJsonSpelling(inferred(name))]));
  return spellingPattern(lists, spelled, hasLongNumbers);
}

/**
 * The relation with its columns, from the sample and the names of all members in their order.
 * @param like every record matches the pattern of the sample
 * @throws Failure InvalidBody for names that conflict.
 */
export function jsonRelation(
  empty: JsonRelation,
  { inferred, tooLarge }: JsonSample,
  names: readonly string[],
  like: boolean,
): Relation {
  if (names.length === 0) {
    const none = tooLarge === undefined ? undefined : `line ${tooLarge}: ${RECORD_TOO_LARGE}`;
    throw new Failure('InvalidBody', none ?? 'the body has no JSON object');
  }
  checkPropertyNames('the body', names);
  const columns = names.map((name) => ({ name, inferred: inferred(name) }));
  if (!like) return { ...empty, columns };
  const spelled = columns.map((column) => ({
    ...column,
    spelled: findJsonSpelling(column.inferred),
  }));
  return { ...empty, columns: spelled };
}

/** True where the first record is a list, `[[1, 2], [3, 4]]`. */
export const isListOfLists = (head: Buffer): boolean =>
  /^\uFEFF?\s*\[\s*\[/.test(head.toString('utf8', 0, 4_096));
