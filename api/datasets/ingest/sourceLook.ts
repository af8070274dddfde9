// A look at the first file of a data source, of which nothing is kept.
import { openSource } from '../../../jobs/run/fetch.ts';
import { NoDataFailure } from '../../../pipeline/bytes/noData.ts';
import { type Piece, SourceFailure } from '../../../pipeline/sources/base/source.ts';
import type { DataSourceRow } from '../../../store/work/dataSources.ts';
import { inWorkFolder } from '../../../store/base/workFolder.ts';
import { callerOf } from '../../auth/access.ts';
import type { Call, Services } from '../../request/endpoint.ts';
import type { Workbench } from '../../../pipeline/bytes/workbench.ts';

type SourceLookServices = Pick<Services, 'clock' | 'fetching' | 'ingestion'>;

/** A file that is looked at: its caller waits for all of it. */
const SAMPLE_BYTES_MAX = 256 * 1024 ** 2;

/** Does something with the first file that a data source has. @throws Failure InvalidBody if none. */
export async function look<T>(
  row: DataSourceRow,
  credentialId: string | undefined,
  call: Call,
  services: SourceLookServices,
  work: (piece: Piece, bench: Workbench) => Promise<T>,
): Promise<T> {
  const { clock, fetching } = services;
  const { credential, definition } = await openSource(row, credentialId, fetching);
  return onBench(services, async (bench) => {
    const landing = {
      folder: bench.folder,
      bytesMax: Math.min(fetching.bytesMax, SAMPLE_BYTES_MAX),
      signal: call.departure(),
      nowMs: clock(),
      onBytes: () => undefined,
    };
    const { accountId } = callerOf(call.caller);
    const owner = { accountId, workspace: row.workspace };
    const asked = { owner, definition, credential, landing };
    const order = { ...asked, since: undefined, sample: true } as const;
    for await (const piece of fetching.pull(order)) {
      try {
        return await work(piece, bench);
      } catch (error) {
        throw error instanceof NoDataFailure ? error.ofSource() : error;
      }
    }
    throw new SourceFailure('the data source has nothing', false);
  });
}

export const onBench = <T>(
  { ingestion }: Pick<Services, 'ingestion'>,
  work: (bench: Workbench) => Promise<T>,
): Promise<T> =>
  inWorkFolder(ingestion.temporary, (folder) => {
    const { deadlineMs, pool } = ingestion;
    return work({ pool, folder, deadlineMs, onProgress: () => undefined });
  });
