// Dispatches pulls and checks by the kind of the source's definition.
import { Failure } from '../../store/base/failure.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import type { AccountFolders } from './accountFolder.ts';
import { checkSourceFolder, checkSourcePath, filePull } from './file.ts';
import { checkUrl, type Guard, systemResolve } from './base/guard.ts';
import { checkCapture, checkFeed } from './feed/feedMessages.ts';
import { feedPull } from './feed/feedPull.ts';
import { checkHeaders } from './http/headers.ts';
import { httpPull } from './http/http.ts';
import { checkPages } from './http/pages.ts';
import { checkPostgres } from './postgres/postgresNames.ts';
import { checkS3 } from './s3/s3Names.ts';
import {
  type DatasetDefinition,
  type ListBucket,
  type PostgresDefinition,
  type Pull,
  type S3Definition,
  type SourceDefinition,
  SourceFailure,
} from './base/source.ts';

/** The settings of pulls, and the pull of other datasets of the account. */
type PullParts = Pick<Settings, 'allowPrivateAddresses' | 'sourceFolder' | 'sourceTimeoutMs'> &
  AccountFolders &
  Pick<Guard, 'onRefused'> & { readonly dataset: Pull<DatasetDefinition> };

/** A pull of any definition. */
export function makePull(parts: PullParts): Pull {
  const { firstAccountId, sourceFolder } = parts;
  const rules = { ...outgoingRules(parts), firstAccountId, sourceFolder };
  const [http, file, feed] = [httpPull(rules), filePull(rules), feedPull(rules)];
  // Imported with the first source that needs them.
  const postgres: Pull<PostgresDefinition> = async function* (order) {
    const { postgresPull } = await import('./postgres/postgres.ts');
    yield* postgresPull(rules)(order);
  };
  const s3: Pull<S3Definition> = async function* (order) {
    const { s3Pull } = await import('./s3/s3.ts');
    yield* s3Pull(rules)(order);
  };
  return (order) => {
    const { definition } = order;
    switch (definition.type) {
      case 'HTTP':
        return http({ ...order, definition });
      case 'FILE':
        return file({ ...order, definition });
      case 'AWS-S3':
        return s3({ ...order, definition });
      case 'DATASET':
        return parts.dataset({ ...order, definition });
      case 'POSTGRES':
        return postgres({ ...order, definition });
      case 'SSE':
      case 'WEBSOCKET':
        return feed({ ...order, definition });
      case 'CAPTURE':
        throw new SourceFailure('to inspect a recording, run tapedeck capture info', false);
    }
  };
}

type OutgoingParts = Pick<Settings, 'allowPrivateAddresses' | 'sourceTimeoutMs'> &
  Pick<Guard, 'onRefused'>;

const outgoingRules = ({ allowPrivateAddresses, onRefused, sourceTimeoutMs }: OutgoingParts) => ({
  allowPrivateAddresses,
  deadlineMs: sourceTimeoutMs,
  resolve: systemResolve,
  ...(onRefused === undefined ? {} : { onRefused }),
});

/** Pages of buckets that are fetched concurrently; each has its own client. */
const LISTINGS_MAX = 16;

/** Lists objects under the same rules as pulls. */
export function makeBucketListing(parts: OutgoingParts): ListBucket {
  const rules = outgoingRules(parts);
  let open = 0;
  return async (order) => {
    if (open >= LISTINGS_MAX) {
      throw new Failure('Busy', `${LISTINGS_MAX} buckets are being listed, the maximum`);
    }
    open += 1;
    try {
      const { listBucket } = await import('./s3/s3Listing.ts');
      return await listBucket(order, rules);
    } finally {
      open -= 1;
    }
  };
}

/**
 * Checks a definition before its first use.
 * @throws SourceFailure, an InvalidBody, naming the broken rule.
 */
export function checkDefinition(
  definition: SourceDefinition,
  { allowPrivateAddresses, sourceFolder }: Pick<Settings, 'allowPrivateAddresses' | 'sourceFolder'>,
): void {
  switch (definition.type) {
    case 'HTTP':
      checkUrl(definition.url, allowPrivateAddresses);
      checkHeaders(definition.headers ?? {});
      if (definition.pages !== undefined) checkPages(definition.pages);
      return;
    case 'FILE':
      checkSourcePath(definition.path);
      checkSourceFolder(sourceFolder);
      return;
    case 'CAPTURE':
      checkSourcePath(definition.path);
      checkSourceFolder(sourceFolder);
      checkCapture(definition);
      return;
    case 'AWS-S3':
      checkS3(definition, allowPrivateAddresses);
      return;
    case 'POSTGRES':
      checkPostgres(definition);
      return;
    case 'SSE':
    case 'WEBSOCKET':
      checkFeed(definition, allowPrivateAddresses);
  }
}
