// Reads deleted records by index and version, for streams that request them.
import { Failure } from '../../store/base/failure.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';
import type { Moment } from '../../store/lake/history/history.ts';
import { listIndexColumns } from '../../store/lake/datasets/indexColumns.ts';
import { readChangesStart } from '../series/moments.ts';
import { changesSince } from '../series/versionChanges.ts';
import type { ReadServices } from '../request/readServices.ts';
import { WRITTEN_MAX, type WrittenRecord } from '../live/recordWatches.ts';

/** The notice that deletions are not available, as after a purge: clients must read again. */
export const RESET: WrittenRecord = {
  key: undefined,
  json: JSON.stringify({ type: 'reset' }),
};

/** Whether deletions of a dataset can be reported: they need a unique index that clients know. */
export const canReportDeletions = ({ mapping, numbered }: Dataset): boolean =>
  !numbered && (mapping.key !== undefined || mapping.date !== undefined);

/**
 * Reads at most `WRITTEN_MAX` deletions, each `{type: 'deleted', …}` with the properties of its index. A
 * record that was written again in a later version is published as written, and is not included.
 * @throws Failure Gone if they are not available any more.
 */
export async function readDeletions(
  dataset: Dataset,
  before: Moment,
  services: Pick<ReadServices, 'database' | 'lake' | 'pending' | 'series'>,
): Promise<readonly WrittenRecord[]> {
  const { mapping, tableId } = dataset;
  // A push is no version: nothing was deleted.
  if (services.lake.snapshot === before.snapshot) return [];
  const begin = await readChangesStart(tableId, { kind: 'snapshot', ...before }, services);
  const table = await services.lake.table(tableId);
  const names = table === undefined ? [] : listIndexColumns(mapping, table);
  const indexNames = new Set<unknown>(Object.values(mapping));
  const deletions = new Map<string, WrittenRecord>();
  for await (const { changes } of changesSince(dataset, begin, services)) {
    for (const values of changes.inserted) deletions.delete(JSON.stringify(values));
    for (const values of changes.deleted) {
      if (deletions.size >= WRITTEN_MAX) break;
      const all = names.map((name, at): [string, unknown] => [name, values[at]]);
      const index = Object.fromEntries(all.filter(([name]) => indexNames.has(name)));
      const key = mapping.key === undefined ? undefined : String(index[mapping.key]);
      const json = JSON.stringify({ type: 'deleted', ...index });
      deletions.set(JSON.stringify(values), { key, json });
    }
  }
  return [...deletions.values()];
}

/** Maximum keys to return; with more all keys are checked again. */
const KEYS_MAX = 1_000;

/** Reads the keys of records that were deleted or replaced since; `any` if they are unknown. */
export async function readEndedKeys(
  dataset: Dataset,
  before: Moment,
  services: Pick<ReadServices, 'database' | 'lake' | 'pending' | 'series'>,
): Promise<ReadonlySet<string> | 'any'> {
  const { mapping, tableId } = dataset;
  const keys = new Set<string>();
  if (services.lake.snapshot === before.snapshot) return keys;
  try {
    const begin = await readChangesStart(tableId, { kind: 'snapshot', ...before }, services);
    const table = await services.lake.table(tableId);
    if (table === undefined) return 'any';
    const place =
      mapping.key === undefined ? -1 : listIndexColumns(mapping, table).indexOf(mapping.key);
    for await (const { changes } of changesSince(dataset, begin, services, 'ending')) {
      if (place < 0 && changes.deleted.length > 0) return 'any';
      for (const values of changes.deleted) {
        keys.add(String(values[place]));
        if (keys.size > KEYS_MAX) return 'any';
      }
    }
  } catch (error) {
    if (!(error instanceof Failure) || error.type !== 'Gone') throw error;
    return 'any';
  }
  return keys;
}
