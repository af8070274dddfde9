// Records that were deleted, for streams that ask for them: by index, as each version deleted them.
import { Failure } from '../../store/base/failure.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';
import type { Moment } from '../../store/lake/history/history.ts';
import { indexOf } from '../../store/lake/datasets/indexColumns.ts';
import { beginOf } from '../read/moments.ts';
import { changesSince } from '../read/versionChanges.ts';
import type { Services } from '../request/endpoint.ts';
import { WRITTEN_MAX, type Written } from '../sse/recordWatches.ts';

/** What was told is not known any more, as after a purge: who follows reads again. */
export const RESET: Written = {
  key: undefined,
  json: JSON.stringify({ type: 'reset' }),
};

/** What is deleted is told by a unique index that its clients know. */
export const tellsDeletions = ({ mapping, numbered }: Dataset): boolean =>
  !numbered && (mapping.key !== undefined || mapping.date !== undefined);

/**
 * At most `WRITTEN_MAX`, each `{type: 'deleted', …}` with the properties of its index. A record that came
 * again in a later version has been told among those that were written, and is not told here.
 * @throws Failure Gone when they can't be told any more.
 */
export async function deletedSince(
  dataset: Dataset,
  before: Moment,
  services: Pick<Services, 'database' | 'lake' | 'pending' | 'series'>,
): Promise<readonly Written[]> {
  const { mapping, tableId } = dataset;
  // A push is no version: nothing was deleted.
  if (services.lake.snapshot === before.snapshot) return [];
  const begin = await beginOf(tableId, { kind: 'snapshot', ...before }, services);
  const table = await services.lake.table(tableId);
  const names = table === undefined ? [] : indexOf(mapping, table);
  const known = new Set<unknown>(Object.values(mapping));
  const gone = new Map<string, Written>();
  for await (const { changes } of changesSince(dataset, begin, services)) {
    for (const values of changes.inserted) gone.delete(JSON.stringify(values));
    for (const values of changes.deleted) {
      if (gone.size >= WRITTEN_MAX) break;
      const all = names.map((name, at): [string, unknown] => [name, values[at]]);
      const index = Object.fromEntries(all.filter(([name]) => known.has(name)));
      const key = mapping.key === undefined ? undefined : String(index[mapping.key]);
      const json = JSON.stringify({ type: 'deleted', ...index });
      gone.set(JSON.stringify(values), { key, json });
    }
  }
  return [...gone.values()];
}

/** Keys that are told; of more all are looked at again. */
const KEYS_MAX = 1_000;

/** Keys of records that ended since: deleted, or replaced by others. `any` where nobody knows which. */
export async function keysGoneSince(
  dataset: Dataset,
  before: Moment,
  services: Pick<Services, 'database' | 'lake' | 'pending' | 'series'>,
): Promise<ReadonlySet<string> | 'any'> {
  const { mapping, tableId } = dataset;
  const keys = new Set<string>();
  if (services.lake.snapshot === before.snapshot) return keys;
  try {
    const begin = await beginOf(tableId, { kind: 'snapshot', ...before }, services);
    const table = await services.lake.table(tableId);
    if (table === undefined) return 'any';
    const place = mapping.key === undefined ? -1 : indexOf(mapping, table).indexOf(mapping.key);
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
