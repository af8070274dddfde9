// Recognizes a file that was loaded into the same dataset before, by a hash of its bytes and of the options
// that determine its records. Only where no unique index is declared: with one a second load changes nothing
// anyway, and 50 MB take 40 ms of the event loop to hash.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { Database } from '../../store/catalog/database.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';
import {
  findLoadedFile,
  removeLoadedFiles,
  hasLoadedSize,
  type LoadedFile,
  insertLoadedFile,
} from '../../store/lake/datasets/loadedFiles.ts';
import type { Ingested } from '../../pipeline/conform/load.ts';
import { isoTime } from '../../store/base/clock.ts';
import type { LoadOrder } from './order.ts';

/** About 0.2 ms of the event loop for each hashed piece. */
const PIECE_BYTES = 256 * 1024;

/** Whether an order is compared: its caller may request to store the same bytes again. */
const isRecognised = ({ chosen, mapping, overwrite, skipsIdentical }: LoadOrder): boolean =>
  overwrite !== true &&
  chosen !== 'keep-all' &&
  skipsIdentical === undefined &&
  mapping === undefined;

interface Recognition {
  /** The same file, loaded before. */
  readonly loaded: LoadedFile | undefined;
  /** Called in the transaction that stores the records of the file. */
  readonly remember: (
    transaction: Database,
    dataset: Dataset,
    outcome: Pick<Ingested, 'ingested' | 'invalid' | 'quarantined' | 'unchanged'>,
  ) => Promise<void>;
}

export async function recogniseFile(
  order: LoadOrder,
  jobId: string,
  existing: Dataset | undefined,
  { clock, database }: { readonly clock: () => number; readonly database: Database },
): Promise<Recognition> {
  const nothing = async (): Promise<void> => undefined;
  const declares =
    existing === undefined &&
    order.mapping !== undefined &&
    order.numbered !== true &&
    order.chosen !== 'keep-all';
  if (declares || existing?.numbered === false) return { loaded: undefined, remember: nothing };
  // Hashed while the file is read and sorted; the load reports a failure to read it.
  const hashing = hashFile(order);
  hashing.catch(() => undefined);
  const isCandidate =
    existing !== undefined &&
    isRecognised(order) &&
    (await hasLoadedSize(database, existing.tableId, order.bytes));
  const loaded = isCandidate
    ? await findLoadedFile(database, existing.tableId, await hashing)
    : undefined;
  const remember: Recognition['remember'] = async (transaction, dataset, outcome) => {
    if (order.overwrite === true) await removeLoadedFiles(transaction, dataset.tableId);
    if (!dataset.numbered) return;
    const file = {
      table_id: dataset.tableId,
      digest: await hashing,
      bytes: order.bytes,
      job_id: jobId,
      records: outcome.ingested + outcome.unchanged,
      time_ms: clock(),
      is_partial: outcome.invalid + outcome.quarantined > 0,
    };
    await insertLoadedFile(transaction, file);
  };
  return { loaded, remember };
}

async function hashFile({ dateOrder, jsonPath, path, reading }: LoadOrder): Promise<string> {
  const hash = createHash('sha256');
  hash.update(JSON.stringify([dateOrder, jsonPath, reading]));
  for await (const piece of createReadStream(path, { highWaterMark: PIECE_BYTES })) {
    hash.update(piece as Buffer);
  }
  return hash.digest('hex');
}

/** Outcome of a load of a file that was loaded before. */
export function recognisedOutcome({ job_id, records, time_ms }: LoadedFile): Ingested {
  const by = job_id === null ? '' : ` by job ${job_id}`;
  const note =
    `warning: the same bytes were loaded${by} at ${isoTime(time_ms)}: nothing was stored again; ` +
    'duplicates=keep-all (--duplicates keep-all) stores them again';
  return {
    validated: records,
    ingested: 0,
    invalid: 0,
    quarantined: 0,
    duplicates: records,
    replaced: 0,
    unchanged: records,
    columnsLeftOut: [],
    rejects: [],
    notes: [note],
  };
}
