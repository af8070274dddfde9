// The allow-list of SQL: every example of docs/reference/sql.md has the result on the page, directly from
// DuckDB; every name is one that its parser prints; nothing forbidden is on the list.
import assert from 'node:assert/strict';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { parse } from 'csv-parse/sync';
import { beforeAll, describe, test } from 'vitest';
import { SUBSET } from '../../docs/pages/sqlSubset.ts';
import { FUNCTIONS, findFunction, nearestFunction } from '../../query/sql/functions/functions.ts';
import { isOperator, OPERATORS, printOperator } from '../../query/sql/plan/operators.ts';
import { renderBody } from '../../store/duckdb/render.ts';
import { literal } from '../../store/duckdb/sqlText.ts';
import { EXAMPLE_CSV } from './sqlExamples.ts';

let duckdb: DuckDBConnection;

beforeAll(async () => {
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  duckdb = await instance.connect();
  await duckdb.run(`SET TimeZone = 'UTC'`);
  const columns = 'symbol VARCHAR, date DATE, open DOUBLE, high DOUBLE, low DOUBLE, close DOUBLE';
  await duckdb.run(`CREATE TABLE PRICES (${columns}, volume BIGINT, note VARCHAR, detail JSON)`);
  const [, ...records]: string[][] = parse(EXAMPLE_CSV);
  const rows = records.map((cells) => `(${cells.map(literal).join(', ')})`);
  await duckdb.run(`INSERT INTO PRICES VALUES ${rows.join(', ')}`);
});

/** The first record of the answer as JSON. */
async function firstRecord(sql: string): Promise<string> {
  const { bytes } = await renderBody(await duckdb.stream(sql), 'jsonl');
  return bytes.toString().split('\n')[0] ?? '';
}

const asSelect = (example: string): string =>
  example.startsWith('SELECT') ? example : `SELECT ${example}`;

const firstValue = async (example: string): Promise<string> =>
  (await firstRecord(`SELECT v FROM (${asSelect(example)}) AS t(v)`)).slice('{"v":'.length, -1);

async function serialized(sql: string): Promise<string> {
  const result = await duckdb.runAndReadAll('SELECT json_serialize_sql(CAST($1 AS VARCHAR))', [
    sql,
  ]);
  return String(result.getRows()[0]?.[0]);
}

describe('the examples have the results on the page', () => {
  test('of functions', async () => {
    for (const { answer, example, name } of FUNCTIONS) {
      assert.equal(await firstValue(example), answer, `${name}: ${example}`);
    }
  });
  test('of operators', async () => {
    for (const { answer, example } of OPERATORS.values()) {
      assert.equal(await firstValue(example), answer, example);
    }
  });
  test('of the subset', async () => {
    for (const { answer, example, ours } of SUBSET.flatMap(({ features }) => features)) {
      if (!ours) assert.equal(await firstRecord(example.join('\n')), answer, example.join('\n'));
    }
  });
});

describe('functions', () => {
  test('no name twice, all in lower case, found in any', () => {
    const names = FUNCTIONS.map(({ name }) => name);
    assert.equal(new Set(names).size, names.length);
    assert.deepEqual(
      names.filter((name) => name !== name.toLowerCase()),
      [],
    );
    assert.equal(findFunction('Date_TRUNC')?.name, 'date_trunc');
    for (const name of ['constructor', '__proto__', 'toString', '']) {
      assert.equal(findFunction(name), undefined);
    }
  });
  test('the parser prints the listed name', async () => {
    for (const { example, name } of FUNCTIONS) {
      const tree = await serialized(asSelect(example));
      assert.ok(tree.includes(`"function_name":"${name}"`), `${name}: ${tree}`);
    }
  });
  test('DuckDB accepts each of these numbers of arguments', async () => {
    const result = await duckdb.runAndReadAll(`SELECT function_name,
      min(CASE WHEN varargs IS NOT NULL THEN len(parameter_types) ELSE len(parameters) END),
      max(CASE WHEN varargs IS NOT NULL THEN 1000 ELSE len(parameters) END)
      FROM duckdb_functions() GROUP BY function_name`);
    const argumentCounts = new Map(
      result.getRows().map(([name, ...counts]) => [String(name), counts.map(Number)]),
    );
    for (const { arguments: counts, name } of FUNCTIONS) {
      if (BY_ANOTHER_WAY.has(name)) continue;
      const [least = NaN, most = NaN] = argumentCounts.get(name) ?? [];
      assert.ok(counts[0] >= least && counts[1] <= most, `${name}: ${counts}, ${least} to ${most}`);
    }
  });
  test('a macro that copies an argument is marked', async () => {
    const result = await duckdb.runAndReadAll(`SELECT function_name, macro_definition,
      array_to_string(parameters, ' ') FROM duckdb_functions() WHERE function_type = 'macro'`);
    for (const [name, definition, parameters] of result.getRows().map((row) => row.map(String))) {
      const listedFunction = findFunction(name ?? '');
      if (listedFunction === undefined) continue;
      const words = (definition ?? '').match(/\w+/g) ?? [];
      const copies = (parameters ?? '').split(' ').some((parameter) => {
        return words.filter((word) => word === parameter).length > 1;
      });
      const isMacroOfMacro = ['roundbankers', 'wavg'].includes(name ?? '');
      assert.equal(
        listedFunction.copies === true,
        copies || isMacroOfMacro,
        `${name}: ${definition}`,
      );
    }
  });
  test('did you mean', () => {
    assert.equal(nearestFunction('date_trunk'), 'date_trunc');
    assert.equal(nearestFunction('AVGG'), 'avg');
    assert.equal(nearestFunction('read_csv'), undefined);
    assert.equal(nearestFunction('x'.repeat(1e6)), undefined);
  });
});

/** Functions whose arguments WITHIN GROUP changes, and `count()` of a window. */
const BY_ANOTHER_WAY = new Set(['quantile_cont', 'quantile_disc', 'mode', 'count', 'lag', 'lead']);

/** Reads, exposes the server, differs from call to call, amplifies, or makes structs. */
const FORBIDDEN = `
  read_csv read_csv_auto read_json read_json_auto read_ndjson read_parquet parquet_scan read_text
  read_blob glob sniff_csv query query_table arrow_scan sqlite_scan from_substrait getvariable getenv
  current_setting version pg_typeof pg_size_pretty pg_sleep sleep_ms pg_get_viewdef format_type
  duckdb_functions duckdb_settings duckdb_secrets duckdb_tables duckdb_extensions pragma_version
  current_schema current_schemas current_user current_role session_user user current_catalog
  current_database current_query current_query_id current_connection_id current_transaction_id
  txid_current inet_client_addr inet_server_addr which_secret add_parquet_key nextval currval setseed
  random uuid gen_random_uuid uuidv4 uuidv7 now today current_date current_timestamp
  get_current_timestamp current_localtimestamp transaction_timestamp ago write_log
  parse_duckdb_log_message error hash md5_number create_sort_key stats vector_type typeof get_type
  json_execute_serialized_sql json_serialize_sql json_deserialize_sql json_serialize_plan
  repeat range generate_series unnest unpivot_list repeat_row bar format printf damerau_levenshtein
  levenshtein to_base list_sort list_transform list_reduce apply array_value array_slice flatten
  struct_pack struct_extract row map map_extract histogram histogram_exact approx_top_k
  reservoir_quantile union_value enum_range enum_code regexp_extract_all regexp_split_to_array
  str_split string_to_array json_keys json_transform from_json json_structure columns
  to_timestamp make_type cast_to_type remap_struct variant_extract st_asbinary decode encode
`;

test('forbidden functions are not on the list', () => {
  const names = FORBIDDEN.trim().split(/\s+/);
  assert.ok(names.length > 80);
  for (const name of names) assert.equal(findFunction(name), undefined, name);
  const families =
    /^(read_|pg_|duckdb_|pragma_|list_|array_|struct_|map_|enum_|union_|current_|icu_|__)/;
  const members = FUNCTIONS.map(({ name }) => name).filter((name) => families.test(name));
  const lists = ['list_value', 'list_contains', 'list_position', 'array_to_string'];
  assert.deepEqual(members, [...lists, 'array_agg']);
});

describe('operators', () => {
  test('printed, the parser reads the same tree', async () => {
    for (const [name, { arguments: counts }] of OPERATORS) {
      for (let count = counts[0]; count <= counts[1]; count += 1) {
        const inner = printOperator('-', ['x', '-1']);
        const printed = printOperator(
          name,
          [inner, printOperator('||', ['y', 'z']), '2'].slice(0, count),
        );
        const tree = JSON.parse(await serialized(`SELECT ${printed}`));
        const [node] = tree.statements[0].node.select_list;
        const isArrow = name === '->';
        const isSubscript = name.startsWith('[');
        const expectedClass = isSubscript ? 'OPERATOR' : 'FUNCTION';
        assert.equal(node.class, isArrow ? 'LAMBDA' : expectedClass, printed);
        if (isArrow) continue;
        assert.equal(node.children.length, count);
        if (isSubscript) continue;
        assert.deepEqual([node.function_name, node.is_operator], [name, true]);
        assert.deepEqual(
          [node.children[0].function_name, node.children[0].is_operator],
          ['-', true],
        );
      }
    }
  });
  test('of as many operands only', () => {
    assert.ok(isOperator('-', 1) && isOperator('-', 2) && isOperator('->>', 2));
    assert.ok(!isOperator('*', 1) && !isOperator('-', 3) && !isOperator('&', 2));
  });
});
