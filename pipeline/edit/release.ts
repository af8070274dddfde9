// Releases records from quarantine into their dataset: a load of the quarantined records without checking
// expectations again. Records that do not fit the schema stay in quarantine.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';
import { Failure } from '../../store/base/failure.ts';
import { removeQuarantined, type QuarantinedRecord } from '../../store/lake/datasets/quarantine.ts';
import { withOwnerFolder } from '../../store/base/workFolder.ts';
import { ingest } from '../merge/ingest.ts';
import type { Relation } from '../values/relation.ts';
import { type IngestServices, type Load, silentEvents } from '../conform/load.ts';

interface Released {
  readonly ingested: number;
  readonly duplicates: number;
  /** Records that stay in quarantine: they do not fit the schema. */
  readonly invalid: number;
}

/**
 * Runs in the dataset's turn: one version, which also ends the quarantine of the records.
 * @throws Failure InvalidBody if a record does not fit the schema.
 */
export async function releaseRecords(
  dataset: Dataset,
  records: readonly QuarantinedRecord[],
  duplicates: Load['duplicates'],
  author: string,
  services: IngestServices,
): Promise<Released> {
  if (records.length === 0) return { ingested: 0, duplicates: 0, invalid: 0 };
  return withOwnerFolder(dataset.workspace, services.temporary, async (folder) => {
    const path = join(folder, 'released');
    await writeFile(path, toLines(records), { mode: 0o600 });
    const relation = toRelation(dataset, path);
    const { tableId, workspace, dataset: name } = dataset;
    const load = {
      path,
      relation,
      workspace,
      dataset: name,
      duplicates,
      accepted: true,
      rejectsMax: Number.MAX_SAFE_INTEGER,
    };
    return ingest(
      load,
      author,
      services,
      silentEvents,
      async (transaction, { invalid, rejects }) => {
        if (invalid > rejects.length) {
          throw new Failure('InvalidBody', `${invalid} of the records do not fit the schema`);
        }
        const stay = new Set(rejects.map(({ line }) => line));
        const released = records.filter((_, at) => !stay.has(at + 1)).map(({ id }) => id);
        await removeQuarantined(transaction, tableId, { ids: released });
      },
    );
  });
}

function* toLines(records: readonly QuarantinedRecord[]): Generator<string> {
  for (const { document } of records) yield `${document}\n`;
}

/** Quarantined records are stored in the spelling of their columns: nothing is guessed. */
function toRelation({ schema }: Dataset, path: string): Relation {
  const columns = Object.entries(schema.properties).map(([name, property]) => ({
    name,
    inferred: { property, spelling: undefined, numeric: undefined },
  }));
  return { kind: 'json', path, framing: 'lines', jsonPath: '$[*]', columns };
}
