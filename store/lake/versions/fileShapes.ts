// What a data file itself says of its columns. A file whose columns are those of the table is read
// plainly: told a schema, DuckDB leaves the statistics of a Parquet file unused, and min, max and a
// GROUP BY over 3 M records took 1.8 to 80 times as long.
import { LruMap } from 'toad-cache';
import { type Column, sqlType } from './columns.ts';
import type { Row } from '../../duckdb/protocol.ts';
import type { DataFile } from './lakeRead.ts';
import type { OpenFiles } from './tableFiles.ts';
import type { Holds } from './openFile.ts';
import { literal } from '../../duckdb/sqlText.ts';

/** Answers the rows of each statement, from a child that may read the files. */
type Ask = (statements: readonly string[]) => Promise<readonly (readonly Row[])[]>;

/** Files whose shape is kept; one that was forgotten is looked at again. */
const FILES_MAX = 20_000;

export class FileShapes {
  /** By path, the columns as one text each; files of one shape share their set. */
  readonly #known = new LruMap<ReadonlySet<string>>(FILES_MAX);
  readonly #shapes = new LruMap<ReadonlySet<string>>(FILES_MAX);

  /** Looks at the footers of those files that were not met before: a file never changes. */
  async learn(files: readonly DataFile[], open: OpenFiles, ask: Ask): Promise<void> {
    const { isDamaged, pathOf } = open;
    const unknown = files.filter(
      ({ path }) => this.#known.get(path) === undefined && !isDamaged(path),
    );
    if (unknown.length === 0) return;
    const paths = unknown.map(({ path }) => literal(pathOf(path)));
    const statement = `SELECT file_name AS file,
        list(concat_ws(' ', field_id, duckdb_type, name) ORDER BY field_id) AS columns
      FROM parquet_schema([${paths.join(', ')}])
      WHERE field_id IS NOT NULL AND duckdb_type IS NOT NULL GROUP BY file_name`;
    const [rows = []] = await ask([statement]);
    const found = new Map(rows.map((row) => [String(row['file']), textsOf(row['columns'])]));
    for (const { path } of unknown) this.#keep(path, found.get(pathOf(path)) ?? []);
  }

  readonly holds: Holds = ({ path }, columns) => {
    const shape = this.#known.get(path);
    return shape !== undefined && columns.every((column) => shape.has(textOf(column)));
  };

  #keep(path: string, columns: readonly string[]): void {
    const key = columns.join('\n');
    const shape = this.#shapes.get(key) ?? new Set(columns);
    this.#shapes.set(key, shape);
    this.#known.set(path, shape);
  }
}

const textOf = ({ id, name, type }: Column): string => `${id} ${sqlType(type)} ${name}`;

const textsOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.map((item) => String(item)) : [];
