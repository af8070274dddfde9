// Commits the result of a load on the serving node in one commit, even if another node executed it.
import { updateDatasetRow } from '../../store/lake/datasets/datasetRows.ts';
import type { Database } from '../../store/catalog/database.ts';
import type { Dataset, RecordSchema } from '../../store/lake/datasets/datasets.ts';
import { insertQuarantined } from '../../store/lake/datasets/quarantine.ts';
import type { CommitNote, CommitResult } from '../../store/lake/commit.ts';
import { createDataset, replacePlaceholderRow } from '../../store/lake/datasetEdits.ts';
import type { Lake } from '../../store/lake/lake.ts';
import type { Ingested, Load, LoadStore, PublishedLoad } from '../conform/load.ts';

/** Runs in the commit's transaction: the job is finished exactly when its records are visible. */
export type Finish = (
  transaction: Database,
  outcome: Ingested,
  committed: CommitResult,
) => Promise<void>;

interface Storing {
  readonly load: Load;
  readonly author: string;
  readonly finish: Finish;
}

/** A store with the dataset that its load created. */
interface CreatingStore extends LoadStore {
  readonly created: Dataset | undefined;
}

export function makeLoadStore(lake: Lake, { load, author, finish }: Storing): CreatingStore {
  let created: Dataset | undefined;
  return {
    get created() {
      return created;
    },
    create: async (draft) => (created = await createDataset(lake, draft, author)),
    commit: async (loaded) => {
      const { dataset, instead, message, outcome, quarantined, schema, touches } = loaded;
      const note = { author, message, ...(touches ? { touches } : {}) };
      await commitOrTidy(loaded, note, lake, async (transaction, committed) => {
        const { timeMs } = committed;
        await finish(transaction, outcome, committed);
        if (quarantined.length > 0) {
          const jobId = load.jobId ?? null;
          await insertQuarantined(transaction, dataset.tableId, quarantined, jobId, timeMs);
        }
        if (instead !== undefined)
          await replacePlaceholderRow(transaction, dataset, instead, timeMs);
        else await updateRow(transaction, dataset, schema, timeMs);
      });
    },
  };
}

async function updateRow(
  transaction: Database,
  { tableId }: Dataset,
  schema: RecordSchema | undefined,
  timeMs: number,
): Promise<void> {
  const wider = schema === undefined ? {} : { schema_json: JSON.stringify(schema) };
  await updateDatasetRow(transaction, tableId, { updated_ms: timeMs, ...wider });
}

/** Runs in the commit's transaction. */
type Alongside = (transaction: Database, committed: CommitResult) => Promise<void>;

/** A refusal inside of the transaction leaves no published file behind. */
async function commitOrTidy(
  { edits, folder }: Pick<PublishedLoad, 'edits' | 'folder'>,
  note: CommitNote,
  lake: Lake,
  alongside: Alongside,
): Promise<void> {
  let refused = false;
  try {
    await lake.commit(edits, note, async (transaction, committed) => {
      try {
        await alongside(transaction, committed);
      } catch (error) {
        refused = true;
        throw error;
      }
    });
  } catch (error) {
    const paths = namesIn(edits).map((name) => `${folder}${name}`);
    if (refused) await lake.files.remove(paths).catch(() => undefined);
    throw error;
  }
}

const namesIn = (edits: PublishedLoad['edits']): readonly string[] =>
  edits.flatMap((edit) => {
    if (edit.kind === 'insert') return [edit.file.name];
    return edit.kind === 'delete' ? edit.deletes.map(({ file }) => file.name) : [];
  });
