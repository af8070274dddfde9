// Reads the records of a JSON file with DuckDB.
import { literal } from '../../store/duckdb/sqlText.ts';

/** The layout of records in a JSON file: one per line, in an array, or one after the other. */
export type JsonFraming = 'lines' | 'array' | 'objects';

/** Largest JSON value that is read; DuckDB takes twice as much memory for each thread. */
export const JSON_BYTES_MAX = {
  lines: 4 * 1024 ** 2,
  array: 4 * 1024 ** 2,
  objects: 64 * 1024 ** 2,
};

export const JSON_FORMATS = {
  lines: 'newline_delimited',
  array: 'array',
  objects: 'unstructured',
} as const;

interface JsonFile {
  readonly path: string;
  readonly framing: JsonFraming;
}

/** The records of a JSON file, in one column `json`; null where a line is not JSON. */
export function jsonRecords({ path, framing }: JsonFile): string {
  const read = `read_json_objects(${literal(path)}, format = '${JSON_FORMATS[framing]}',
    ignore_errors = ${framing === 'lines'}, maximum_object_size = ${JSON_BYTES_MAX[framing]})`;
  return `(SELECT json FROM ${read})`;
}

/** SQL test of a record of `jsonRecords`. */
export const IS_OBJECT = `coalesce(json_type(json) = 'OBJECT', false)`;
