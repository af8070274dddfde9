// The feeds of others that data sources name: opened as sources are, stored as pushes are.
import type { Logger } from 'pino';
import { writeFeed } from '../api/ingest/feedWriting.ts';
import type { RecordServices } from '../api/ingest/recordWriting.ts';
import type { Services } from '../api/request/endpoint.ts';
import { Upstreams } from '../jobs/feeds/upstreams.ts';
import { openSource } from '../jobs/run/fetch.ts';
import { systemResolve } from '../pipeline/sources/base/guard.ts';
import { feedMessages } from '../pipeline/sources/feed/feedMessages.ts';
import { reasonOf } from '../store/base/failure.ts';

type Parts = RecordServices & Pick<Services, 'accounts' | 'clock' | 'database' | 'fetching'>;

export function upstreamsOf(parts: Parts, log: Logger): Upstreams {
  const { clock, database, fetching, settings } = parts;
  const { allowPrivateAddresses, sourceTimeoutMs: deadlineMs } = settings;
  const rules = { allowPrivateAddresses, deadlineMs, resolve: systemResolve };
  return new Upstreams({
    ...{ clock, database },
    messages: (order) => feedMessages(order, rules),
    credentialOf: async (row) => (await openSource(row, undefined, fetching)).credential,
    write: (row, definition, records) => writeFeed(row, definition, records, parts),
    onFault: ({ name, workspace }, reason) =>
      log.warn({ workspace, source: name, reason: reasonOf(reason) }, 'a feed failed'),
  });
}
