// The datasets of the SQL suites, from rows/*.psv: loaded over HTTP into a server, and as tables of a
// plain DuckDB.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import type { TestServer } from '../../base/server.ts';

type Kind = 'text' | 'number' | 'integer' | 'boolean' | 'date' | 'time' | 'json';

interface Column {
  readonly name: string;
  readonly kind: Kind;
}

interface Shelf {
  readonly id: string;
  readonly columns: readonly Column[];
  /** As the file has them; undefined for `\N`. */
  readonly rows: readonly (readonly (string | undefined)[])[];
}

/** Properties that are in no index have no mapping. */
const MAPPINGS: Readonly<Record<string, object>> = {
  COMPANIES: { key: 'symbol' },
  PRICES: { key: 'symbol', date: 'date' },
  QUOTES: { key: 'symbol', date: 'stamp' },
  TRADES: {},
};

const TYPES: Readonly<Record<Kind, readonly [json: object, sql: string]>> = {
  text: [{ type: 'string' }, 'VARCHAR'],
  number: [{ type: 'number' }, 'DOUBLE'],
  integer: [{ type: 'integer' }, 'BIGINT'],
  boolean: [{ type: 'boolean' }, 'BOOLEAN'],
  date: [{ type: 'string', format: 'date' }, 'DATE'],
  time: [{ type: 'string', format: 'date-time' }, 'TIMESTAMP'],
  json: [{ type: 'object' }, 'JSON'],
};

export const SHELVES: readonly Shelf[] = Object.keys(MAPPINGS).map(shelfOf);

function shelfOf(id: string): Shelf {
  const text = readFileSync(join(import.meta.dirname, 'rows', `${id}.psv`), 'utf8');
  const [head = '', ...lines] = text.trimEnd().split('\n');
  const columns = head.split('|').map((columnText): Column => {
    const [name = '', kind = ''] = columnText.split(':');
    return { name, kind: kind as Kind };
  });
  const rows = lines.map((line) =>
    line.split('|').map((cell) => (cell === '\\N' ? undefined : cell)),
  );
  for (const row of rows) assert.equal(row.length, columns.length, `${id}: ${row.join('|')}`);
  return { id, columns, rows };
}

export async function fillServer(server: TestServer, workspace = 'WS'): Promise<void> {
  for (const shelf of SHELVES) {
    const { columns, id } = shelf;
    const types = columns.map(({ kind, name }) => [name, TYPES[kind][0]]);
    const schema = { type: 'object', properties: Object.fromEntries(types) as object };
    const dataset = { datasetId: id, schema, columnMapping: MAPPINGS[id] ?? {} };
    await post(server, `/datasets/${workspace}?`, JSON.stringify({ dataset }));
    for (const [at, rows] of partsOf(shelf.rows).entries()) {
      const place = `${workspace}/${id}`;
      const door = at < LOADS ? `/data/${place}?wait=true&` : `/record/${place}?`;
      await post(server, door, bodyOf({ ...shelf, rows }));
    }
  }
}

const LOADS = 2;
const PUSHED = 5;

/** Two loads, so that a condition may exclude a file, and records that no file has yet. */
function partsOf(rows: Shelf['rows']): readonly Shelf['rows'][] {
  const half = Math.floor(rows.length / 2);
  return [rows.slice(0, half), rows.slice(half, -PUSHED), rows.slice(-PUSHED)];
}

async function post({ base, secret }: TestServer, path: string, body: string): Promise<void> {
  const answer = await fetch(`${base}/v1${path}token=${secret}`, { method: 'POST', body });
  assert.equal(answer.status, 200, `${path}: ${await answer.text()}`);
}

/** Numbers are written unchanged: no double can hold all of them. */
function bodyOf({ columns, rows }: Shelf): string {
  const token = (cell: string | undefined, kind: Kind): string => {
    if (cell === undefined) return 'null';
    return ['text', 'date', 'time'].includes(kind) ? JSON.stringify(cell) : cell;
  };
  const records = rows.map((row) => {
    const members = columns.map(
      ({ kind, name }, at) => `${JSON.stringify(name)}:${token(row[at], kind)}`,
    );
    return `{${members.join(',')}}`;
  });
  return `[${records.join(',\n')}]`;
}

export async function fillPlain(connection: DuckDBConnection): Promise<void> {
  await connection.run(`SET TimeZone = 'UTC'`);
  // Its other way to join finds a nearest one for NULL, too.
  await connection.run('SET asof_loop_join_threshold = 1000000');
  for (const { columns, id, rows } of SHELVES) {
    const typed = columns.map(({ kind, name }) => `"${name}" ${TYPES[kind][1]}`);
    await connection.run(`CREATE TABLE ${id} (${typed.join(', ')})`);
    const values = rows.map((row) => `(${row.map(literal).join(', ')})`);
    await connection.run(`INSERT INTO ${id} VALUES ${values.join(', ')}`);
  }
}

const literal = (cell: string | undefined): string =>
  cell === undefined ? 'NULL' : `'${cell.replaceAll("'", "''")}'`;
