/**
 * The independent reader against lakes whose rows are known: the reference implementation's lake
 * (`../shared/lake/`, whose README describes each snapshot), and a small SQLite lake written here, by
 * hand, with the features that the first one lacks.
 */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { DuckDBInstance } from '@duckdb/node-api';
import { describe, test, type TestContext } from 'vitest';
import {
  openCsvCatalog,
  openSqliteCatalog,
  parseRow,
  readTable,
  snapshots,
  tables,
  type LakeCatalog,
  type LakeTable,
} from './reader.ts';

const LAKE = fileURLToPath(new URL('../../../../shared/lake/', import.meta.url));
const DATA = join(LAKE, 'data/');

/** Schema-qualified names by snapshot, from the README's story. */
const TABLES_BY_SNAPSHOT = [
  [],
  [],
  ...Array.from({ length: 7 }, () => ['DEMO.STOCKS']),
  ['DEMO.PRICES'],
  ...Array.from({ length: 2 }, () => ['DEMO.PRICES', 'DEMO.WIDE']),
  ['DEMO.PRICES'],
];

/** Tests with the reference lake; without it they are skipped, which CI does not accept. */
function referenceTest(name: string, body: (catalog: LakeCatalog) => Promise<void>): void {
  const absent = !existsSync(LAKE) && process.env['CI'] !== 'true';
  test(name, async (t) => {
    t.skip(absent, 'no ../shared/lake beside the project');
    const catalog = await openCsvCatalog(join(LAKE, 'catalog'));
    try {
      await body(catalog);
    } finally {
      catalog.close();
    }
  });
}

async function tableNamed(catalog: LakeCatalog, at: number, name: string): Promise<LakeTable> {
  const table = (await tables(catalog, at)).find((listed) => listed.name === name);
  assert.ok(table, `${name} is not listed at snapshot ${at}`);
  return table;
}

/** The rows of an expected file: an array with one JSON object a line, kept as text. */
function expectedLines(file: string): string[] {
  const array = readFileSync(join(LAKE, 'expected', file), 'utf8').trim();
  return array === '[]' ? [] : array.slice(1, -1).split(',\n');
}

describe('the reference lake', () => {
  referenceTest('has snapshots 0 to 12, each later than the one before', async (catalog) => {
    const snapshotRows = await snapshots(catalog);
    assert.deepEqual(
      snapshotRows.map(({ id }) => id),
      TABLES_BY_SNAPSHOT.map((_, id) => id),
    );
    const times = snapshotRows.map(({ time }) => Date.parse(time.replace(/\+00$/, 'Z')));
    assert.ok(times.every((time, index) => index === 0 || time > (times[index - 1] ?? NaN)));
  });

  referenceTest('lists the tables of each snapshot', async (catalog) => {
    for (const [at, expected] of TABLES_BY_SNAPSHOT.entries()) {
      const listed = await tables(catalog, at);
      const names = listed.map(({ schema, name }) => `${schema}.${name}`);
      assert.deepEqual(names, expected, `at snapshot ${at}`);
    }
  });

  referenceTest('keeps the id and the folder of a renamed table', async (catalog) => {
    const before = await tableNamed(catalog, 8, 'STOCKS');
    assert.deepEqual(await tableNamed(catalog, 9, 'PRICES'), { ...before, name: 'PRICES' });
  });

  const files = existsSync(LAKE) ? readdirSync(join(LAKE, 'expected')) : [];
  referenceTest('has expected rows to compare with', async () => {
    assert.equal(files.length, 10);
  });
  for (const file of files) {
    const [, at = '', name = ''] = /^(\d+)-(\w+)\.json$/.exec(file) ?? [];
    referenceTest(`reads ${name} at snapshot ${at} exactly`, async (catalog) => {
      const table = await tableNamed(catalog, Number(at), name);
      assert.deepEqual(await readTable(catalog, DATA, Number(at), table), expectedLines(file));
    });
  }
});

/**
 * One table of three rows in `a.parquet` at 1; the first deleted at 2 and the last at 3, each time
 * with a delete file for all; at 4 `n` widened to int64, `old` renamed, `gone` dropped and `note`
 * added with a default; one row inserted at 5 and one at 6, later merged into `b.parquet`. The
 * paths of `b.parquet` and of the second delete file are absolute.
 */
async function makeLake(t: TestContext): Promise<{ path: string; catalog: DatabaseSync }> {
  const folder = await mkdtemp(join(tmpdir(), 'lake-'));
  t.onTestFinished(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, 'main/t'), { recursive: true });
  await writeParquet([
    `COPY (FROM (VALUES (1::INT, 'x', 'g'), (2, 'y', 'g'), (3, 'z', 'g')) AS t(n, old, gone))
     TO '${folder}/main/t/a.parquet' (FIELD_IDS {n: 1, old: 2, gone: 3})`,
    `COPY (SELECT 'a' AS file_path, 0::BIGINT AS pos) TO '${folder}/main/t/d2.parquet'`,
    `COPY (SELECT 'a' AS file_path, unnest([0, 2])::BIGINT AS pos) TO '${folder}/d3.parquet'`,
    `COPY (FROM (VALUES (9007199254740993, 'five', 'new', 5::BIGINT), (NULL, 'six', NULL, 6))
       AS t(n, fresh, note, _ducklake_internal_snapshot_id)) TO '${folder}/b.parquet'
     (FIELD_IDS {n: 1, fresh: 2, note: 4, _ducklake_internal_snapshot_id: 2147483539})`,
  ]);
  const path = join(folder, 'catalog.sqlite');
  const catalog = new DatabaseSync(path);
  t.onTestFinished(() => catalog.close());
  catalog.exec(CATALOG.replaceAll('FOLDER', folder));
  return { path, catalog };
}

async function writeParquet(statements: string[]): Promise<void> {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  for (const statement of statements) await connection.run(statement);
  connection.closeSync();
}

/** The columns of the specification's tables that a reader needs, booleans as 0 and 1. */
const CATALOG = `
  CREATE TABLE ducklake_metadata (key, value, scope, scope_id);
  INSERT INTO ducklake_metadata VALUES ('version', '1.0', NULL, NULL);
  CREATE TABLE ducklake_inlined_data_tables (table_id, table_name, schema_version);
  CREATE TABLE ducklake_schema
    (schema_id, begin_snapshot, end_snapshot, schema_name, path, path_is_relative);
  INSERT INTO ducklake_schema VALUES (0, 0, NULL, 'main', 'main/', 1);
  CREATE TABLE ducklake_table
    (table_id, begin_snapshot, end_snapshot, schema_id, table_name, path, path_is_relative);
  INSERT INTO ducklake_table VALUES (1, 1, NULL, 0, 'T', 't/', 1);
  CREATE TABLE ducklake_column (column_id, begin_snapshot, end_snapshot, table_id, column_order,
    column_name, column_type, initial_default, parent_column);
  INSERT INTO ducklake_column VALUES
    (1, 1, 4, 1, 1, 'n', 'int32', NULL, NULL), (1, 4, NULL, 1, 1, 'n', 'int64', NULL, NULL),
    (2, 1, 4, 1, 2, 'old', 'varchar', NULL, NULL), (3, 1, 4, 1, 3, 'gone', 'varchar', NULL, NULL),
    (2, 4, NULL, 1, 2, 'it''s c0', 'varchar', NULL, NULL),
    (4, 4, NULL, 1, 4, 'note', 'varchar', 'none', NULL);
  CREATE TABLE ducklake_data_file (data_file_id, table_id, begin_snapshot, end_snapshot, file_order,
    path, path_is_relative, file_format, encryption_key, mapping_id, partial_max);
  INSERT INTO ducklake_data_file VALUES
    (0, 1, 1, NULL, NULL, 'a.parquet', 1, 'parquet', NULL, NULL, NULL),
    (3, 1, 5, NULL, NULL, 'FOLDER/b.parquet', 0, 'parquet', NULL, NULL, 6);
  CREATE TABLE ducklake_delete_file (delete_file_id, table_id, begin_snapshot, end_snapshot,
    data_file_id, path, path_is_relative, format, encryption_key, partial_max);
  INSERT INTO ducklake_delete_file VALUES
    (1, 1, 2, 3, 0, 'd2.parquet', 1, 'parquet', NULL, NULL),
    (2, 1, 3, NULL, 0, 'FOLDER/d3.parquet', 0, 'parquet', NULL, NULL);
`;

async function readMadeLake(path: string, at: number): Promise<string[]> {
  const catalog = await openSqliteCatalog(path);
  try {
    const table = await tableNamed(catalog, at, 'T');
    return await readTable(catalog, `${dirname(path)}/`, at, table);
  } finally {
    catalog.close();
  }
}

describe('a lake with its catalog in SQLite', () => {
  test('is read at each snapshot, through schema changes and merged files', async (t) => {
    const { path } = await makeLake(t);
    const [x, y, z] = ['x', 'y', 'z'].map((old, i) => `{"n":${i + 1},"old":"${old}","gone":"g"}`);
    assert.deepEqual(await readMadeLake(path, 1), [x, y, z]);
    assert.deepEqual(await readMadeLake(path, 2), [y, z]);
    assert.deepEqual(await readMadeLake(path, 3), [y]);
    const second = `{"n":2,"it's c0":"y","note":"none"}`;
    assert.deepEqual(await readMadeLake(path, 4), [second]);
    const fifth = `{"n":9007199254740993,"it's c0":"five","note":"new"}`;
    assert.deepEqual(await readMadeLake(path, 5), [second, fifth]);
    const sixth = `{"n":null,"it's c0":"six","note":null}`;
    assert.deepEqual(await readMadeLake(path, 6), [second, fifth, sixth]);
  });

  test('cannot be written to', async (t) => {
    const { path } = await makeLake(t);
    const catalog = await openSqliteCatalog(path);
    t.onTestFinished(() => catalog.close());
    await assert.rejects(catalog.rows('DELETE FROM ducklake_table'), /readonly/);
  });

  const refusals: [what: string, sql: string, message: RegExp][] = [
    ['another version', "UPDATE ducklake_metadata SET value = '0.3'", /version 1\.0: 0\.3/],
    ['rows in the catalog', "INSERT INTO ducklake_inlined_data_tables VALUES (1, 'in', 1)", /in$/],
    ['deletions in it', 'CREATE TABLE ducklake_inlined_delete_1 (file_id)', /inlined_delete_1$/],
    ['name mappings', 'UPDATE ducklake_data_file SET mapping_id = 1', /cannot read a\.parquet/],
    ['deletion vectors', "UPDATE ducklake_delete_file SET format = 'puffin'", /read d2\.parquet/],
    ['two delete files', 'UPDATE ducklake_delete_file SET end_snapshot = NULL', /two delete files/],
    ['a nested type', "UPDATE ducklake_column SET column_type = 'list'", /LIST type/],
    ['a file missing', "UPDATE ducklake_data_file SET path = 'none.parquet'", /none\.parquet/],
  ];
  for (const [what, sql, message] of refusals) {
    test(`is refused with ${what}`, async (t) => {
      const { path, catalog } = await makeLake(t);
      catalog.exec(sql);
      await assert.rejects(readMadeLake(path, 3), message);
    });
  }
});

test('parseRow keeps integers that no number holds', () => {
  const row = parseRow('{"n":9007199254740993,"small":-1,"price":21.0,"doc":{"x":[1e20]}}');
  assert.deepEqual(row, { n: 9007199254740993n, small: -1, price: 21, doc: { x: [1e20] } });
});
