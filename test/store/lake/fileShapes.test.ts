// A file is read plainly only when each requested column is in it under the present name, id and type.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, test } from 'vitest';
import type { Column, ColumnType } from '../../../store/lake/versions/columns.ts';
import { DuckDbPool } from '../../../store/duckdb/pool.ts';
import { FileShapes } from '../../../store/lake/versions/fileShapes.ts';
import type { DataFile } from '../../../store/lake/versions/lakeRead.ts';
import { visibleRows } from '../../../store/lake/versions/tableSql.ts';

let folder = '';
let pool: DuckDbPool;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tapedeck-shapes-'));
  pool = new DuckDbPool({ children: 1, memoryBytes: 128 * 1024 ** 2, threads: 1 });
});
afterAll(async () => {
  await pool.close();
  await rm(folder, { recursive: true });
});

const pathOf = (relative: string): string => join(folder, relative);

const ask = (statements: readonly string[], files: readonly string[] = []) =>
  pool.rows({ files: files.map(pathOf), folder, statements, deadlineMs: 20_000 });

const isDamaged = (): boolean => false;

async function written(path: string, select: string, ids: string): Promise<DataFile> {
  const [rows] = await ask([
    `COPY (${select}) TO '${pathOf(path)}' (FORMAT parquet, FIELD_IDS {${ids}})`,
  ]);
  const records = Number(rows?.[0]?.['Count']);
  return { id: 1, path, records, bytes: 1, ranges: new Map(), deletes: null, proof: undefined };
}

const column = (id: number, name: string, type: ColumnType): Column => ({
  id,
  name,
  type,
  nullable: true,
});

const A = column(1, 'a', 'int64');
const B = column(2, 'b', 'varchar');

test('a file is as its table is, or is read by the ids of its columns', async () => {
  const shapes = new FileShapes();
  const select = `SELECT 7::BIGINT AS a, 'x' AS b, '{"m":1}'::JSON AS j, DATE '2024-02-29' AS d`;
  const file = await written('one.parquet', select, 'a: 1, b: 2, j: 3, d: 4');
  assert.equal(shapes.hasColumns(file, [A]), false, 'its columns are not loaded yet');
  await shapes.load([file], { paths: [], pathOf, isDamaged }, ask);
  const cases: readonly (readonly [string, boolean, readonly Column[]])[] = [
    ['all', true, [A, B, column(3, 'j', 'json'), column(4, 'd', 'date')]],
    ['some, in another order', true, [B, A]],
    ['one was renamed', false, [column(1, 'A2', 'int64'), B]],
    ['one is wider now', false, [column(1, 'a', 'float64'), B]],
    ['one is another that has its name', false, [column(9, 'a', 'int64'), B]],
    ['one came later', false, [A, B, column(5, 'e', 'varchar')]],
  ];
  for (const [what, holds, columns] of cases) {
    assert.equal(shapes.hasColumns(file, columns), holds, what);
    const sql = visibleRows([file], columns, pathOf, false, shapes.hasColumns);
    assert.equal(sql.includes('schema = MAP'), !holds, sql);
    const [rows] = await ask([`SELECT * FROM ${sql}`], [file.path]);
    assert.deepEqual(
      Object.keys(rows?.[0] ?? {}),
      columns.map(({ name }) => name),
      what,
    );
  }
});

test('the columns of a file are read once, beside files of other shapes', async () => {
  const shapes = new FileShapes();
  const one = await written('two.parquet', `SELECT 1::BIGINT AS a, 'x' AS b`, 'a: 1, b: 2');
  const other = await written('three.parquet', `SELECT 2.5::DOUBLE AS a`, 'a: 1');
  const queries: string[] = [];
  const learn = (files: readonly DataFile[]): Promise<void> =>
    shapes.load(files, { paths: [], pathOf, isDamaged }, (statements) => {
      queries.push(...statements);
      return ask(statements);
    });
  await learn([one]);
  await learn([one, other]);
  await learn([other, one]);
  assert.equal(queries.length, 2);
  assert.ok(!queries[1]?.includes('two.parquet'), queries[1]);
  assert.deepEqual(
    [shapes.hasColumns(one, [A, B]), shapes.hasColumns(other, [A, B])],
    [true, false],
  );
  const sql = visibleRows([one, other], [A, B], pathOf, false, shapes.hasColumns);
  assert.ok(sql.includes('schema = MAP'), 'one of another shape: all by ids');
});
