// Logs the rows of each flush as they were pushed, so that a moment between two versions can be read again.
// The log is kept as long as all versions are, up to a size for each dataset.
import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress } from 'node:zlib';
import type { Database } from '../../catalog/database.ts';
import { insertEach, runBatch } from '../../catalog/statementBatch.ts';
import type { PendingRow } from './pendingRows.ts';
import type { PushLogTable } from '../../catalog/tables/pushes.ts';

/** Limit of compressed bytes of one dataset; above it the oldest flushes are removed. */
const TABLE_BYTES_MAX = 64 * 1024 ** 2;
/** Limits of rows and characters of one piece, which is parsed at once. */
const PIECE_ROWS_MAX = 500;
const PIECE_CHARACTERS_MAX = 1024 ** 2;

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

/** Compressed rows of one flush, to be written in its transaction. */
type CompressedRows = readonly (Pick<
  PushLogTable,
  'first_sequence' | 'first_ms' | 'last_ms' | 'bytes' | 'body'
> & { readonly last_sequence: number })[];

/** @param rows oldest first */
export async function compressRows(rows: readonly PendingRow[]): Promise<CompressedRows> {
  const compressed = [];
  for (const { lines, piece } of splitIntoPieces(rows)) {
    const bytes = await compress(lines.join('\n'));
    const [first, last] = [piece[0], piece.at(-1)];
    if (first === undefined || last === undefined) continue;
    compressed.push({
      first_sequence: first.sequence,
      last_sequence: last.sequence,
      first_ms: first.timeMs,
      last_ms: last.timeMs,
      bytes: bytes.length,
      body: bytes.toString('base64'),
    });
  }
  return compressed;
}

function* splitIntoPieces(
  rows: readonly PendingRow[],
): Generator<{ readonly lines: string[]; readonly piece: PendingRow[] }> {
  let [lines, piece, characters]: [string[], PendingRow[], number] = [[], [], 0];
  for (const row of rows) {
    const line = JSON.stringify(row);
    lines.push(line);
    piece.push(row);
    characters += line.length;
    if (piece.length < PIECE_ROWS_MAX && characters < PIECE_CHARACTERS_MAX) continue;
    yield { lines, piece };
    [lines, piece, characters] = [[], [], 0];
  }
  if (piece.length > 0) yield { lines, piece };
}

/** Logs rows in the transaction of the version that contains them. */
export async function logPushes(
  transaction: Database,
  tableId: number,
  compressed: CompressedRows,
  { snapshot, timeMs }: { readonly snapshot: number; readonly timeMs: number },
): Promise<void> {
  const latest = await transaction
    .selectFrom('push_log')
    .select((select) => [select.fn.max('log_id').as('id')])
    .executeTakeFirst();
  const before = Number(latest?.id ?? 0);
  const common = { table_id: tableId, snapshot_id: snapshot, flushed_ms: timeMs };
  const rows = compressed.map(({ last_sequence: _, ...piece }, at) => {
    return { log_id: before + 1 + at, ...common, ...piece };
  });
  await runBatch(transaction, insertEach(transaction, 'push_log', rows));
  await trimPushLog(transaction, tableId);
}

/** Removes the oldest flushes until the others fit. */
async function trimPushLog(transaction: Database, tableId: number): Promise<void> {
  const rows = await transaction
    .selectFrom('push_log')
    .select(['snapshot_id', 'bytes'])
    .where('table_id', '=', tableId)
    .orderBy('log_id', 'desc')
    .execute();
  let bytes = 0;
  const firstExcess = rows.find((row) => (bytes += row.bytes) > TABLE_BYTES_MAX);
  if (firstExcess !== undefined) await endPushLog(transaction, tableId, firstExcess.snapshot_id);
}

/**
 * Removes flushes of versions up to a snapshot, in one transaction: moments between those versions can no
 * longer be read.
 */
export async function endPushLog(
  transaction: Database,
  tableId: number,
  snapshot: number,
): Promise<void> {
  const { numDeletedRows } = await transaction
    .deleteFrom('push_log')
    .where('table_id', '=', tableId)
    .where('snapshot_id', '<=', snapshot)
    .executeTakeFirst();
  if (numDeletedRows > 0n) await savePushEnd(transaction, tableId, snapshot);
}

async function savePushEnd(
  transaction: Database,
  tableId: number,
  snapshot: number,
): Promise<void> {
  await transaction
    .insertInto('push_end')
    .values({ table_id: tableId, snapshot_id: snapshot })
    .onConflict((conflict) => conflict.column('table_id').doUpdateSet({ snapshot_id: snapshot }))
    .execute();
}

/** Removes flushes before a time, in one transaction, as not all earlier versions are kept. */
export async function expirePushes(transaction: Database, beforeMs: number): Promise<void> {
  const ends = await transaction
    .selectFrom('push_log')
    .select((select) => ['table_id', select.fn.max('snapshot_id').as('snapshot')])
    .where('flushed_ms', '<', beforeMs)
    .groupBy('table_id')
    .execute();
  for (const { snapshot, table_id } of ends) {
    await endPushLog(transaction, table_id, Number(snapshot));
  }
}

/** Removes the log in the transaction that drops a table. */
export async function dropPushes(transaction: Database, tableId: number): Promise<void> {
  for (const table of ['push_log', 'push_end'] as const) {
    await transaction.deleteFrom(table).where('table_id', '=', tableId).execute();
  }
}

/** Upper bound of pushes: a sequence or a time, both inclusive. */
export type PushCut =
  | { readonly kind: 'sequence'; readonly sequence: number }
  | { readonly kind: 'time'; readonly ms: number };

export const isWithin = (cut: PushCut, { sequence, timeMs }: PendingRow): boolean =>
  cut.kind === 'sequence' ? sequence <= cut.sequence : timeMs <= cut.ms;

export interface FlushedRow extends PendingRow {
  /** The version that contains it. */
  readonly snapshot: number;
}

/** Reads flushed rows that are in later versions and were pushed up to a cut. */
export async function readPushes(
  database: Database,
  tableId: number,
  after: number,
  cut: PushCut,
): Promise<readonly FlushedRow[]> {
  const query = database
    .selectFrom('push_log')
    .select(['snapshot_id', 'body'])
    .where('table_id', '=', tableId)
    .where('snapshot_id', '>', after)
    .where((is) =>
      cut.kind === 'sequence'
        ? is('first_sequence', '<=', cut.sequence)
        : is('first_ms', '<=', Math.min(cut.ms, Number.MAX_SAFE_INTEGER)),
    )
    .orderBy('log_id');
  const rows: FlushedRow[] = [];
  for (const { body, snapshot_id: snapshot } of await query.execute()) {
    const lines = (await decompress(Buffer.from(body, 'base64'))).toString('utf8').split('\n');
    const all = lines.map((line) => ({ ...(JSON.parse(line) as PendingRow), snapshot }));
    rows.push(...all.filter((row) => isWithin(cut, row)));
  }
  return rows;
}

/** Returns the version up to which flushes of a table were removed; undefined when all are stored. */
export async function readPushEnd(
  database: Database,
  tableId: number,
): Promise<number | undefined> {
  const row = await database
    .selectFrom('push_end')
    .select('snapshot_id')
    .where('table_id', '=', tableId)
    .executeTakeFirst();
  return row?.snapshot_id;
}
