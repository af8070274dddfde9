// Writes pending records to a file and a snapshot: first those that replace stored ones, then those that do
// not, each in one transaction with the removal of their pending rows.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ingest } from '../../pipeline/merge/ingest.ts';
import type { Relation } from '../../pipeline/values/relation.ts';
import { toProperty } from '../../store/lake/versions/columns.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';
import type { Pending } from '../../store/lake/pushes/pending.ts';
import { buildDocument, mergeRows, type PendingRow } from '../../store/lake/pushes/pendingRows.ts';
import { logPushes, compressRows } from '../../store/lake/pushes/pushLog.ts';
import { withOwnerFolder } from '../../store/base/workFolder.ts';
import { type IngestServices, silentEvents } from '../../pipeline/conform/load.ts';

interface FlushParts {
  readonly pending: Pending;
  readonly ingestion: IngestServices;
}

/** A dataset is flushed with this many rows, or when one has waited this long. */
export const FLUSH_ROWS = 5_000;
export const FLUSH_AGE_MS = 10_000;

/** About 1 ms of the event loop: all 5,000 rows in one turn took 20 ms. */
const BATCH_LINES = 250;

const AUTHOR = 'tapedeck flush';

/** Runs in the dataset's turn: no load of it may run concurrently. */
export async function flushDataset(dataset: Dataset, parts: FlushParts): Promise<void> {
  const { pending, ingestion } = parts;
  const rows = [...pending.pendingRows(dataset.tableId)];
  if (rows.length === 0) return;
  const table = await ingestion.lake.table(dataset.tableId);
  if (table === undefined) return;
  ingestion.at('flush-begun');
  const net = mergeRows(rows);
  const columns = table.columns.map(({ name, type }) => ({
    name,
    inferred: { property: toProperty(type), spelling: undefined, numeric: undefined },
  }));
  for (const replaces of [true, false]) {
    const some = net.filter((row) => row.replaces === replaces);
    if (some.length === 0) continue;
    const index = new Set(some.map((row) => row.index));
    const pendingRows = rows.filter((row) => index.has(row.index));
    await writeRows(dataset, some, pendingRows, columns, parts);
  }
}

async function writeRows(
  { tableId, workspace, dataset }: Dataset,
  rows: readonly PendingRow[],
  pendingRows: readonly PendingRow[],
  columns: Relation['columns'],
  { pending, ingestion }: FlushParts,
): Promise<void> {
  await withOwnerFolder(workspace, ingestion.temporary, async (folder) => {
    const path = join(folder, 'pushed');
    await writeFile(path, formatLines(rows), { mode: 0o600 });
    const relation = { kind: 'json', path, framing: 'lines', jsonPath: '$[*]', columns } as const;
    const duplicates = rows[0]?.replaces === true ? 'replace' : 'ignore';
    const touches = { kind: 'records', records: rows } as const;
    const load = {
      path,
      relation,
      workspace,
      dataset,
      duplicates,
      rejectsMax: 0,
      touches,
      accepted: true,
    } as const;
    const packed = await compressRows(pendingRows);
    let snapshot = 0;
    await ingest(
      load,
      AUTHOR,
      ingestion,
      silentEvents,
      async (transaction, _outcome, committed) => {
        snapshot = committed.snapshot;
        await logPushes(transaction, tableId, packed, committed);
        await pending.markFlushed(transaction, tableId, pendingRows, snapshot);
      },
    );
    // A load without changes is not announced.
    pending.finishFlush(tableId, snapshot);
  });
}

/** Formats lines between the writes: pushes and reads run in the meantime. */
function* formatLines(rows: readonly PendingRow[]): Generator<string> {
  for (let from = 0; from < rows.length; from += BATCH_LINES) {
    const some = rows.slice(from, from + BATCH_LINES);
    yield some.map((row) => `${JSON.stringify(buildDocument(row))}\n`).join('');
  }
}
