// Bare DuckDB in a separate process with the settings of an SQL pool child: runs the same text over views of
// the same files and reports its own milliseconds, without the transport. Forked by sqlSides.ts.
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { lockedInstance } from '../../store/duckdb/instance.ts';
import { renderBody } from '../../store/duckdb/render.ts';
import { cpuSince } from '../http/cpuTime.ts';
import { type Rows, readRows } from './sqlRows.ts';
import { identifier, literal } from '../../store/duckdb/sqlText.ts';

export interface BareOpen {
  readonly kind: 'open';
  readonly tables: readonly {
    readonly name: string;
    readonly columns: readonly string[];
    readonly files: readonly string[];
  }[];
  readonly memoryBytes: number;
  readonly spillBytes: number;
  readonly threads: number;
  /** Folder for spilled and copied files. */
  readonly folder: string;
}

/** `json` fetches the rows as JSON text; the others COPY to a file. */
export type BareHow = 'json' | 'copy csv' | 'copy json' | 'copy parquet';

export type BareRequest =
  | BareOpen
  | { readonly kind: 'time'; readonly sql: string; readonly how: BareHow }
  | { readonly kind: 'rows'; readonly sql: string };

export type BareAnswer =
  | { readonly kind: 'open' }
  | { readonly kind: 'time'; readonly ms: number; readonly cpuMs: number }
  | { readonly kind: 'rows'; readonly rows: Rows }
  | { readonly kind: 'failed'; readonly reason: string };

let connection: DuckDBConnection | undefined;
let folder = '';

process.on('message', (request: BareRequest) => {
  void answer(request)
    .catch((error: unknown): BareAnswer => ({ kind: 'failed', reason: String(error) }))
    .then((reply) => process.send?.(reply));
});
process.on('disconnect', () => process.exit(0));

async function answer(request: BareRequest): Promise<BareAnswer> {
  if (request.kind === 'open') {
    await open(request);
    return { kind: 'open' };
  }
  if (connection === undefined) throw new Error('bare DuckDB is not open');
  if (request.kind === 'rows') {
    const body = await renderBody(await connection.stream(request.sql), 'jsonl');
    return { kind: 'rows', rows: readRows(Buffer.from(body.bytes)) };
  }
  const spent = process.cpuUsage();
  const start = performance.now();
  await run(connection, request.sql, request.how);
  return { kind: 'time', ms: performance.now() - start, cpuMs: cpuSince(spent) };
}

async function open(request: BareOpen): Promise<void> {
  folder = request.folder;
  const files = request.tables.flatMap((table) => table.files);
  const { memoryBytes, spillBytes, threads } = request;
  const instance = await lockedInstance({ files, memoryBytes, spillBytes, threads, folder });
  connection = await instance.connect();
  for (const { name, columns, files: own } of request.tables) {
    const from = `read_parquet([${own.map(literal).join(', ')}])`;
    const list = columns.map(identifier).join(', ');
    await connection.run(`CREATE VIEW ${name} AS SELECT ${list} FROM ${from}`);
  }
}

const COPIES: Readonly<Record<Exclude<BareHow, 'json'>, string>> = {
  'copy csv': 'FORMAT csv, HEADER',
  'copy json': 'FORMAT json, ARRAY true',
  'copy parquet': 'FORMAT parquet, COMPRESSION zstd',
};

async function run(on: DuckDBConnection, sql: string, how: BareHow): Promise<void> {
  if (how === 'json') {
    const reader = await on.runAndReadAll(sql);
    JSON.stringify(reader.getRowObjectsJson());
    return;
  }
  await on.run(`COPY (${sql}) TO ${literal(join(folder, 'copied'))} (${COPIES[how]})`);
}
