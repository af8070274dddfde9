// JSON: an array of objects, objects on lines, or an array below a path. A sample tells the types;
// names of members are taken from every record, since a rare member may come late.
import { checkPropertyNames, PROPERTIES_MAX } from '../../../store/lake/versions/columns.ts';
import type { Row } from '../../../store/duckdb/protocol.ts';
import { Failure } from '../../../store/base/failure.ts';
import { HEAD_BYTES } from '../../bytes/content.ts';
import type { DateOrder } from '../../values/dateFormats.ts';
import { inferJsonType, type Inferred } from '../../values/infer.ts';
import { MEMBERS_MAX, spelledAs, spellingPattern } from '../../values/jsonSpelling.ts';
import { IS_OBJECT, type JsonFraming, jsonRecords } from '../../values/jsonRecords.ts';
import { RECORD_BYTES_MAX, RECORD_TOO_LARGE, type Relation } from '../../values/relation.ts';
import { literal } from '../../../store/duckdb/sqlText.ts';

/** Records that are looked at for types; the rest corrects the guess. */
const SAMPLE_RECORDS = 2_000;
/** Of these, bytes: each is read whole, and the event loop waits for it. */
const SAMPLE_BYTES = 512 * 1024;
export function framingOf(head: Buffer): JsonFraming {
  const text = head
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .trimStart();
  if (text.startsWith('[')) return 'array';
  // An object over several lines: the first is none, and goes on in a second that begins none.
  const [first = '', second] = text.split('\n').filter((line) => line.trim() !== '');
  if (second === undefined) return head.length === HEAD_BYTES ? 'objects' : 'lines';
  if (isObject(first)) return 'lines';
  const goesOn = /[,:[{]$/.test(first.trimEnd());
  return second.trimStart().startsWith('{') && !goesOn ? 'lines' : 'objects';
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
 * Rows of sampled records as `json`, with the `names` of their members where they are other ones
 * than those of the record before. A record that is too large to be stored has neither.
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

/** What the first records tell. */
interface JsonSample {
  /** The file has no other records. */
  readonly whole: boolean;
  /** Names of a record's members in their order, of each record that has other ones. */
  readonly lists: readonly (readonly string[])[];
  /** All of them in the order in which they appear. */
  readonly names: readonly string[];
  readonly inferred: (name: string) => Inferred;
  /** The first record that is too large to be stored. */
  readonly tooLarge: number | undefined;
}

/** None where only DuckDB takes the text for JSON (a last comma, NaN): the file is written again then. */
function recordOf(row: Row): readonly Readonly<Record<string, unknown>>[] {
  try {
    return [JSON.parse(String(row['json'])) as Record<string, unknown>];
  } catch {
    return [];
  }
}

/** @param rows of `sampleStatement` */
export function sampleOf(
  rows: readonly Row[],
  order?: DateOrder,
  nulls?: readonly string[],
): JsonSample {
  const lists = rows.flatMap((row) =>
    row['names'] === null ? [] : [row['names'] as readonly string[]],
  );
  const names = [...new Set(lists.flat())];
  const known = new Map<string, Inferred>();
  let values: ReadonlyMap<string, readonly unknown[]> | undefined;
  const inferred = (name: string): Inferred => {
    values ??= valuesOf(rows.flatMap(recordOf));
    const told = known.get(name) ?? inferJsonType(values.get(name) ?? [], order, nulls);
    known.set(name, told);
    return told;
  };
  const records = Number(rows[0]?.['records'] ?? 0);
  const whole = records < SAMPLE_RECORDS && rows.length === records;
  const large = rows[0]?.['large'] ?? undefined;
  return { whole, lists, names, inferred, tooLarge: large === undefined ? large : Number(large) };
}

/** Of each member the values that it has, in one pass: names times records may be many. */
function valuesOf(
  records: readonly Readonly<Record<string, unknown>>[],
): ReadonlyMap<string, readonly unknown[]> {
  const values = new Map<string, unknown[]>();
  for (const record of records) {
    for (const [name, value] of Object.entries(record)) {
      const found = values.get(name);
      if (found === undefined) values.set(name, [value]);
      else found.push(value);
    }
  }
  return values;
}

/** What only a record has that is too large to be stored is no column, wherever in the file it is. */
const IS_RECORD = `${IS_OBJECT} AND strlen(json) <= ${RECORD_BYTES_MAX}`;

/**
 * A record may have what DuckDB alone takes for JSON: a comma before a bracket, NaN, an infinity. Texts
 * may look so, too: a scan knows. A line that is none at all is null.
 */
const IS_SUSPECT = `json IS NULL OR
  regexp_matches(json, ',\\s*[}\\]]|[\\[:,]\\s*-?(?:[nN][aA][nN]|[iI][nN][fF])')`;
/** In the place of names, of a record that is one. */
const SUSPECTS = `[chr(1)]`;

/**
 * One row: how many lists of members' names the records have that do not match `pattern` (a record
 * that is no object counts as a list too), and all `names` on these lists, in no order. Lists are
 * few, names are many: to group lists takes 0.6 s of processor time for 1 M records of 7 members, on
 * every thread; to number and group their names took 1.0 on one. To match them all takes 0.6.
 * @param pattern of a whole record (`spellingPattern`); undefined: none matches
 * @param suspects also how many lists are of records that may be no strict JSON
 */
export function unlikeStatement(
  relation: JsonRelation,
  pattern: string | undefined,
  suspects: boolean,
): string {
  const like = `regexp_full_match(json, ${literal(pattern ?? '')})
    AND strlen(json) <= ${RECORD_BYTES_MAX}`;
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

/** The names of all members in the order in which they appear: to number records is slow. */
export const namesInOrder = (relation: JsonRelation): string =>
  `SELECT name FROM (
      SELECT n, unnest(names) AS name, generate_subscripts(names, 1) AS place FROM
        (SELECT names, min(n) AS n FROM
          (SELECT row_number() OVER () AS n, json_keys(json) AS names
            FROM ${jsonRecords(relation)} WHERE ${IS_RECORD})
          GROUP BY names))
    GROUP BY name ORDER BY min((n, place)) LIMIT ${PROPERTIES_MAX + 1}`;

/** The pattern that all sampled records match; undefined where there is none. */
export function patternOf(sample: JsonSample): string | undefined {
  const { inferred, lists, names } = sample;
  if (names.length > MEMBERS_MAX) return undefined;
  const spelled = new Map(names.map((name) => [name, spelledAs(inferred(name))]));
  return spellingPattern(lists, spelled);
}

/**
 * The relation with its columns, from the sample and the names of all members in their order.
 * @param like every record matches the pattern of the sample
 * @throws Failure InvalidBody for names that can not stand side by side.
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
  const spelled = columns.map((column) => ({ ...column, spelled: spelledAs(column.inferred) }));
  return { ...empty, columns: spelled };
}

/** True where the first record is a list, `[[1, 2], [3, 4]]`. */
export const isListOfLists = (head: Buffer): boolean =>
  /^\uFEFF?\s*\[\s*\[/.test(head.toString('utf8', 0, 4_096));
