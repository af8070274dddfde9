// Automatic maintenance of datasets: triggered by changes, done in their turn.
import type { Clock } from '../../store/base/clock.ts';
import type { Database } from '../../store/catalog/database.ts';
import type { RetentionPolicy } from '../../store/lake/history/retention.ts';
import type { Scrub } from '../../store/catalog/scrub.ts';
import { retryRemovals } from '../../store/files/fileTombstones.ts';
import type { Runner } from '../run/runner.ts';
import { compactDataset } from './compaction.ts';
import type { IngestServices } from '../../pipeline/conform/load.ts';

interface UpkeepParts {
  readonly database: Database;
  readonly runner: Runner;
  readonly ingestion: IngestServices;
  readonly keep: RetentionPolicy;
  readonly clock: Clock;
  readonly scrub: Scrub;
}

const DAY_MS = 86_400_000;

interface Upkeep {
  /** Compacts datasets that changed since the last call. */
  compactChanged(): Promise<void>;
  /**
   * Expires old versions, also by the retention of each dataset, and removes files that the previous call
   * left without a version.
   */
  expireVersions(): Promise<void>;
}

export function makeUpkeep(parts: UpkeepParts): Upkeep {
  const { database, runner, ingestion, keep, clock, scrub } = parts;
  const { lake } = ingestion;
  let unnamed: readonly string[] = [];
  const changed = new Set<number>();
  lake.onChange(({ tableIds }) => {
    for (const tableId of tableIds) changed.add(tableId);
  });
  return {
    compactChanged: async () => {
      const tableIds = [...changed];
      changed.clear();
      for (const tableId of tableIds) {
        const dataset = lake.directory.datasetById(tableId);
        if (dataset === undefined) continue;
        await runner.inTurn(dataset.workspace, dataset.dataset, async () => {
          await compactDataset(dataset, ingestion);
        });
      }
    },
    expireVersions: async () => {
      await lake.files.remove(unnamed);
      await retryRemovals(database, lake.files);
      unnamed = await lake.removeExpired(keep);
      const limited = lake.directory.datasetsWithRetention();
      const ends = limited.map(({ historyDays, tableId }) => {
        return { tableId, ms: clock() - Number(historyDays) * DAY_MS };
      });
      if (ends.length > 0) unnamed = [...unnamed, ...(await lake.endOlderVersions(ends))];
      // Repeats what a purge could not do: a backup kept old pages of the catalog, or the disk was full.
      await scrub();
    },
  };
}
