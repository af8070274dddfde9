// What datasets need by themselves: looked at when they changed, done in their turn.
import type { IngestServices } from '../pipeline/ingest.ts';
import type { Keep } from '../store/retention.ts';
import type { Runner } from './runner.ts';
import { compactDataset } from './compaction.ts';

interface UpkeepParts {
  readonly runner: Runner;
  readonly ingestion: IngestServices;
  readonly keep: Keep;
}

interface Upkeep {
  /** Puts files of the datasets together that changed since the last look. */
  look(): Promise<void>;
  /**
   * Lets old versions go, and removes files that the call before this one left without a version:
   * whoever still read them has ended by now, or has them pinned.
   */
  thin(): Promise<void>;
}

export function makeUpkeep({ runner, ingestion, keep }: UpkeepParts): Upkeep {
  const { lake } = ingestion;
  let unnamed: readonly string[] = [];
  const changed = new Set<number>();
  lake.onChange(({ tableIds }) => {
    for (const tableId of tableIds) changed.add(tableId);
  });
  return {
    look: async () => {
      const tableIds = [...changed];
      changed.clear();
      for (const tableId of tableIds) {
        const dataset = lake.catalogue.datasetById(tableId);
        if (dataset === undefined) continue;
        await runner.inTurn(dataset.workspace, dataset.dataset, async () => {
          await compactDataset(dataset, ingestion);
        });
      }
    },
    thin: async () => {
      const pinned = await lake.files.remove(unnamed);
      unnamed = [...pinned, ...(await lake.expire(keep))];
    },
  };
}
