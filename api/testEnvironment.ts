// The test environment answers the same paths in the same shapes with values that are not the real
// ones, and charges nothing (SPEC.md "Authentication" 3).
import type { Caller } from '../store/callers.ts';
import { type ColumnType, columnTypeOf } from '../store/columns.ts';
import type { Dataset } from '../store/datasets.ts';
import type { Body, TextFormat } from '../store/duckdb/protocol.ts';
import { Failure } from '../store/failure.ts';
import type { Answer } from './endpoint.ts';
import { scrambleRecords } from './scramble.ts';

/** Members by which clients find their records again. */
const SYSTEM_KEYS = ['id', 'key', 'subkey', 'symbol'];

/** Records with other values: the same ones each time for a token and a version of the dataset. */
export function scrambled(answer: Answer, caller: Caller | undefined): Answer {
  if (answer.kind !== 'rows' || caller === undefined) return answer;
  const { body, dataset, format, snapshot } = answer;
  if (dataset === undefined) return answer;
  // What can't be scrambled must not go out.
  if (format === 'arrow' || format === 'parquet') throw new Failure('SystemError');
  return { ...answer, body: scrambledBody(body, format, caller, dataset, snapshot) };
}

/** The answer of a query over several datasets, or of one that made new values of them. */
export function scrambledQuery(
  body: Body,
  format: TextFormat,
  caller: Caller,
  datasets: readonly Dataset[],
  columns: readonly { readonly name: string; readonly type: string }[],
): Body {
  const mapped = datasets.flatMap(({ mapping: { key, subkey } }) => [key, subkey]);
  const keep = new Set([...SYSTEM_KEYS, ...mapped.filter((name) => name !== undefined)]);
  const types = new Map(columns.map(({ name, type }) => [name, QUERY_TYPES[type] ?? 'float64']));
  const given = Buffer.from(body.bytes.buffer, body.bytes.byteOffset, body.bytes.byteLength);
  const bytes = new Uint8Array(scrambleRecords(given, format, caller.tokenId, keep, types));
  return { ...body, bytes };
}

/** DuckDB's words for what is no plain number. */
const QUERY_TYPES: Readonly<Record<string, ColumnType>> = {
  BIGINT: 'int64',
  INTEGER: 'int64',
  HUGEINT: 'int64',
  BOOLEAN: 'boolean',
  DATE: 'date',
  TIMESTAMP: 'timestamp',
  VARCHAR: 'varchar',
  JSON: 'json',
};

export function scrambledBody(
  body: Body,
  format: TextFormat,
  caller: Caller,
  dataset: Dataset,
  snapshot: number,
): Body {
  const { key, subkey } = dataset.mapping;
  const keep = new Set([...SYSTEM_KEYS, ...[key, subkey].filter((name) => name !== undefined)]);
  const seed = [caller.tokenId, dataset.workspace, dataset.dataset, snapshot].join(' ');
  const given = Buffer.from(body.bytes.buffer, body.bytes.byteOffset, body.bytes.byteLength);
  const types = new Map(
    Object.entries(dataset.schema.properties).map(([name, property]) => [
      name,
      columnTypeOf(property),
    ]),
  );
  const bytes = new Uint8Array(scrambleRecords(given, format, seed, keep, types));
  return { ...body, bytes };
}
