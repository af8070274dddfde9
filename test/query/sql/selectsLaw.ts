// Random SELECTs are answered by a server as by a plain DuckDB; and for any condition each row is in
// exactly one of three parts: true, false or unknown.
import assert from 'node:assert/strict';
import { seeded } from '../../soak/crash/rounds/seeded.ts';
import { startServer, type TestServer } from '../../base/server.ts';
import { askServer } from './door.ts';
import { difference, openPlain, type Plain, respelled, type Table } from './plain.ts';
import { randomCondition, randomSelect } from './random/randomSelects.ts';
import { fillServer } from './shelves.ts';

interface SelectsReport {
  readonly failures: readonly string[];
  readonly selects: number;
  readonly rows: number;
  /** Answers without a row. */
  readonly empty: number;
  /** Valid texts that DuckDB does not run either. */
  readonly refused: number;
}

/** Maximum number of reported failures; more would only slow down the run. */
const REPORTED_MAX = 20;

export async function selectsLaw(count: number, seed: number): Promise<SelectsReport> {
  await using plain = await openPlain();
  await using server = await startServer({ seams: { watch: false } });
  await fillServer(server);
  const total = { failures: [] as string[], selects: 0, rows: 0, empty: 0, refused: 0 };
  for (let at = 0; at < count && total.failures.length < REPORTED_MAX; at += 1) {
    const sql = randomSelect(seeded(seed * 1_000_003 + at));
    total.selects += 1;
    const want = await answerOf(plain, sql);
    if (want === undefined) total.refused += 1;
    else total.rows += want.rows.length;
    if (want?.rows.length === 0) total.empty += 1;
    const fault = await faultOf(server, sql, want);
    if (fault !== undefined) total.failures.push(`seed ${seed}, select ${at}: ${fault}\n${sql}`);
  }
  return total;
}

async function answerOf(plain: Plain, sql: string): Promise<Table | undefined> {
  try {
    return await plain.ask(respelled(sql));
  } catch {
    return undefined;
  }
}

/** A query that reads no dataset costs nothing. */
const READS = /\b(companies|prices|quotes|trades)\b/i;

async function faultOf(
  server: TestServer,
  sql: string,
  want: Table | undefined,
): Promise<string | undefined> {
  const { body, messages, status, table } = await askServer(server, sql);
  if (want === undefined) return status === 400 ? undefined : `${status}, where DuckDB refuses`;
  if (table === undefined) return `${status} ${body.slice(0, 400)}`;
  const least = READS.test(sql) ? table.rows.length : 0;
  if (messages === undefined || messages < least) return `it cost ${messages}`;
  return difference(table, want);
}

interface ConditionsReport {
  readonly failures: readonly string[];
  readonly conditions: number;
  /** Conditions that are true for some rows and not for others. */
  readonly parting: number;
  /** Valid texts that DuckDB does not run. */
  readonly refused: number;
}

const NOT_RUN = /not supported|not implemented/i;

export async function conditionsLaw(count: number, seed: number): Promise<ConditionsReport> {
  await using server = await startServer({ seams: { watch: false } });
  await fillServer(server);
  const total = { failures: [] as string[], conditions: 0, parting: 0, refused: 0 };
  for (let at = 0; at < count && total.failures.length < REPORTED_MAX; at += 1) {
    const { condition, from } = randomCondition(seeded(seed * 1_000_003 + at));
    total.conditions += 1;
    try {
      const [all = 0, ...parts] = await countsOf(server, from, condition);
      assert.deepEqual(parts.slice(0, 3), parts.slice(3, 6), 'counted otherwise by FILTER');
      const sum = parts.slice(0, 3).reduce((one, other) => one + other, 0);
      assert.equal(sum, all, `the parts ${parts.join(', ')} are not all`);
      assert.equal(parts[6], all, 'the union of the parts is not all');
      if (parts[0] !== 0 && parts[0] !== all) total.parting += 1;
    } catch (error) {
      if (NOT_RUN.test(String(error))) {
        total.refused += 1;
        continue;
      }
      const failure = `${String(error).slice(0, 800)}\nFROM ${from} WHERE ${condition}`;
      total.failures.push(`seed ${seed}, condition ${at}: ${failure}`);
    }
  }
  return total;
}

/** Counts of all rows; of true, false, unknown; the same by FILTER; of the union of the three. */
async function countsOf(
  server: TestServer,
  from: string,
  condition: string,
): Promise<readonly number[]> {
  const parts = [condition, `NOT ${condition}`, `(${condition}) IS NULL`];
  const queries = [
    `SELECT count(*) AS n FROM ${from}`,
    ...parts.map((part) => `SELECT count(*) AS n FROM ${from} WHERE ${part}`),
    `SELECT count(*) FILTER (WHERE x.c) AS a, count(*) FILTER (WHERE NOT x.c) AS b,
      count(*) FILTER (WHERE x.c IS NULL) AS d FROM (SELECT ${condition} AS c FROM ${from}) x`,
    `SELECT count(*) AS n FROM (${parts
      .map((part) => `SELECT 1 AS one FROM ${from} WHERE ${part}`)
      .join(' UNION ALL ')}) x`,
  ];
  const counts: number[] = [];
  for (const sql of queries) {
    const { body, table } = await askServer(server, sql);
    assert.ok(table !== undefined, body.slice(0, 400));
    counts.push(...(table.rows[0] ?? []).map(Number));
  }
  return counts;
}
