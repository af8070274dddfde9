// Lists the objects of a bucket, of a data source or of a credential, before a load (SPEC.md "S3 bucket
// listing").
import { openSource } from '../../../jobs/run/fetch.ts';
import type { Credential } from '../../../pipeline/sources/base/source.ts';
import { Failure } from '../../../store/base/failure.ts';
import { findCredential, unsealCredential } from '../../../store/work/dataSources.ts';
import { findPathWorkspace } from '../../../reads/rights/access.ts';
import { Type } from '../../../reads/request/schema.ts';
import type { Call, Endpoint, Services } from '../../request/endpoint.ts';
import {
  numberOf,
  type Parameter,
  refuse,
  textOf,
  truthOf,
} from '../../../reads/request/parameters.ts';
import { ANY, toFreeAnswer, OWNERS_ROW } from '../../request/rows.ts';
import { ownSource } from './sources.ts';

/** Objects of one page of S3. */
const PAGE_MAX = 1_000;
const PAGE_DEFAULT = 100;
const LIMIT_HELP = `At most n; ${PAGE_DEFAULT} by default.`;
const KEY_CHARACTERS_MAX = 1_024;

const PARAMETERS: readonly Parameter[] = [
  {
    kind: 'text',
    name: 'prefix',
    charactersMax: KEY_CHARACTERS_MAX,
    help: 'Only keys that begin with it.',
  },
  { kind: 'boolean', name: 'folders', help: 'One level, with its folders.' },
  { kind: 'integer', name: 'limit', least: 1, most: PAGE_MAX, help: LIMIT_HELP },
  { kind: 'text', name: 'page', help: 'The last `nextPage`.' },
  { kind: 'text', name: 'bucket', help: 'Of a credential.' },
  { kind: 'text', name: 'region', help: 'Of `bucket`.' },
  { kind: 'text', name: 'endpoint', help: 'URL of its store.' },
];

const PAGE = Type.Object({
  folders: Type.Array(Type.String()),
  objects: Type.Array(ANY),
  nextPage: Type.Union([Type.String(), Type.Null()]),
});

export const listObjects: Endpoint = {
  ...OWNERS_ROW,
  id: 'listObjects',
  method: 'GET',
  path: '/bucket-objects/:workspace/:id',
  summary: 'The objects of a bucket, in pages.',
  parameters: PARAMETERS,
  answer: PAGE,
  handle: async (call, services) => {
    const { query } = call;
    const location = await findBucket(call, services);
    const page = await services.fetching.listBucket({
      ...location,
      prefix: textOf(query, 'prefix') ?? '',
      isFoldersOnly: truthOf(query, 'folders'),
      limit: numberOf(query, 'limit') ?? PAGE_DEFAULT,
      page: textOf(query, 'page'),
      signal: call.departure(),
    });
    return toFreeAnswer(page);
  },
};

interface Bucket {
  readonly bucket: string;
  readonly region: string | undefined;
  readonly endpoint: string | undefined;
  readonly credential: Credential | undefined;
}

/** @throws Failure NotFound, InvalidParameter for a source of another kind. */
async function findBucket(call: Call, services: Services): Promise<Bucket> {
  const { id = '' } = call.path;
  return id.startsWith('CREDENTIAL_')
    ? credentialBucket(id, call, services)
    : sourceBucket(call, services);
}

async function sourceBucket(call: Call, services: Services): Promise<Bucket> {
  const row = await ownSource(call, services);
  if (row.type !== 'AWS-S3') refuseKind('data source', row.type);
  for (const name of ['bucket', 'region', 'endpoint']) {
    if (textOf(call.query, name) !== undefined) refuse(name, 'is that of the data source');
  }
  const { credential, definition } = await openSource(row, undefined, services.fetching);
  if (definition.type !== 'AWS-S3') return refuseKind('data source', definition.type);
  const { awsbucketName: bucket, endpoint, region } = definition;
  return { bucket, endpoint, region, credential };
}

async function credentialBucket(id: string, call: Call, services: Services): Promise<Bucket> {
  const { workspace } = findPathWorkspace(call, services);
  const { database, secrets } = services.fetching;
  const row = await findCredential(database, workspace, id);
  if (row === undefined) throw new Failure('NotFound');
  if (row.type !== 'AWS-S3') refuseKind('credential', row.type);
  const bucket = textOf(call.query, 'bucket');
  if (bucket === undefined)
    return refuse('bucket', 'is required where the path names a credential');
  const [region, endpoint] = [textOf(call.query, 'region'), textOf(call.query, 'endpoint')];
  return { bucket, region, endpoint, credential: unsealCredential(row, secrets) as Credential };
}

function refuseKind(kind: string, type: string): never {
  const rule = 'only one of type AWS-S3 has a bucket';
  throw new Failure('InvalidParameter', `the ${kind} is of type ${type}: ${rule}`);
}
