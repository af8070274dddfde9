// Previews the first file of a data source without storing it.
import { openSource } from '../../../jobs/run/fetch.ts';
import { NoDataFailure } from '../../../pipeline/bytes/noData.ts';
import { type Piece, SourceFailure } from '../../../pipeline/sources/base/source.ts';
import type { DataSourceRow } from '../../../store/work/dataSources.ts';
import { withWorkFolder } from '../../../store/base/workFolder.ts';
import type { Call, Services } from '../../request/endpoint.ts';
import type { Workbench } from '../../../pipeline/bytes/workbench.ts';

type SourceLookServices = Pick<Services, 'clock' | 'fetching' | 'ingestion'>;

/** Bytes of a previewed file: the caller waits until all of it is fetched. */
const SAMPLE_BYTES_MAX = 256 * 1024 ** 2;

/** Runs `work` on the first file of a data source. @throws Failure InvalidBody if there is none. */
export async function withFirstFile<T>(
  row: DataSourceRow,
  credentialId: string | undefined,
  call: Call,
  services: SourceLookServices,
  work: (piece: Piece, bench: Workbench) => Promise<T>,
): Promise<T> {
  const { clock, fetching } = services;
  const { credential, definition } = await openSource(row, credentialId, fetching);
  return withWorkbench(services, async (bench) => {
    const landing = {
      folder: bench.folder,
      bytesMax: Math.min(fetching.bytesMax, SAMPLE_BYTES_MAX),
      signal: call.departure(),
      nowMs: clock(),
      onBytes: () => undefined,
    };
    const { accountId } = call.caller;
    const owner = { accountId, workspace: row.workspace };
    const pullParts = { owner, definition, credential, landing };
    const order = { ...pullParts, since: undefined, sample: true } as const;
    for await (const piece of fetching.pull(order)) {
      try {
        return await work(piece, bench);
      } catch (error) {
        throw error instanceof NoDataFailure ? error.forSource() : error;
      }
    }
    throw new SourceFailure('the data source has nothing', false);
  });
}

export const withWorkbench = <T>(
  { ingestion }: Pick<Services, 'ingestion'>,
  work: (bench: Workbench) => Promise<T>,
): Promise<T> =>
  withWorkFolder(ingestion.temporary, (folder) => {
    const { deadlineMs, pool } = ingestion;
    return work({ pool, folder, deadlineMs, onProgress: () => undefined });
  });
