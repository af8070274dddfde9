// Composes upstream feeds of data sources: opened like sources, stored like pushes.
import type { Logger } from 'pino';
import { writeFeed } from '../api/datasets/ingest/feedWriting.ts';
import type { RecordServices } from '../api/datasets/ingest/recordWriting.ts';
import type { Services } from '../api/request/endpoint.ts';
import { Upstreams } from '../jobs/feeds/upstreams.ts';
import { openSource } from '../jobs/run/fetch.ts';
import { systemResolve } from '../pipeline/sources/base/guard.ts';
import {
  captureMessages,
  type CaptureOrder,
  type CaptureCounts,
} from '../jobs/feeds/captureMessages.ts';
import { feedMessages } from '../pipeline/sources/feed/feedMessages.ts';
import type { FeedMessage } from '../pipeline/sources/feed/feedOrder.ts';
import { sourceFile } from '../pipeline/sources/file.ts';
import { reasonOf } from '../store/base/failure.ts';
import type { DataSourceRow } from '../store/work/dataSources.ts';

type Parts = RecordServices & Pick<Services, 'accounts' | 'clock' | 'database' | 'fetching'>;

/** Replays a recording below the folder of sources that its account may read. */
async function* replayRecording(
  { workspace }: DataSourceRow,
  order: CaptureOrder,
  onCounts: (counts: CaptureCounts) => void,
  { accounts, lake, settings }: Parts,
): AsyncGenerator<FeedMessage, void> {
  const accountId = lake.directory.workspace(workspace)?.accountId ?? '';
  const firstAccountId = accounts.list()[0]?.accountId;
  const path = await sourceFile({ ...settings, firstAccountId }, order.definition.path, accountId);
  yield* captureMessages(order, path, onCounts);
}

export function composeUpstreams(parts: Parts, log: Logger): Upstreams {
  const { clock, database, fetching, settings } = parts;
  const { allowPrivateAddresses, sourceTimeoutMs: deadlineMs } = settings;
  const onRefused = (reason: string): void => log.error({ reason }, 'feed');
  const rules = { allowPrivateAddresses, deadlineMs, resolve: systemResolve, onRefused };
  return new Upstreams({
    clock,
    database,
    messages: (order) => feedMessages(order, rules),
    captured: (row, order, onCounts) => replayRecording(row, order, onCounts, parts),
    credentialOf: async (row) => (await openSource(row, undefined, fetching)).credential,
    write: (row, definition, records) => writeFeed(row, definition, records, parts),
    onFault: ({ name, workspace }, reason) =>
      log.warn(
        {
          workspace,
          source: name,
          reason: reasonOf(reason),
        },
        'a feed failed',
      ),
  });
}
