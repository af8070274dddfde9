// Lists a dataset's versions, and the records that each of them changed.
import { Type } from '../../../reads/request/schema.ts';
import { readVersions } from '../../../store/lake/history/versions.ts';
import { Failure } from '../../../store/base/failure.ts';
import { isForeign, findWholeDataset } from '../../../reads/rights/access.ts';
import type { Endpoint } from '../../request/endpoint.ts';
import { numberOf, refuse, textOf } from '../../../reads/request/parameters.ts';
import { parseAsOf } from '../../../reads/series/series.ts';
import { isIndexed, listChangesSince } from '../../../reads/series/versionChanges.ts';

const VERSIONS_DEFAULT = 100;
const VERSIONS_MAX = 10_000;
const JOB = / job ([0-9a-f]{32})$/;

export const listVersions: Endpoint = {
  id: 'listVersions',
  method: 'GET',
  path: '/datasets/:workspace/:id/versions',
  token: 'publishable',
  summary:
    'The versions of a dataset, newest first: when, by whom, by which job, how many records.',
  weight: 'free',
  parameters: [
    {
      kind: 'integer',
      name: 'limit',
      least: 1,
      most: VERSIONS_MAX,
      help: `At most n versions; ${VERSIONS_DEFAULT} by default.`,
    },
  ],
  answer: Type.Array(
    Type.Object({
      snapshot: Type.Integer(),
      date: Type.Integer(),
      jobId: Type.Union([Type.String(), Type.Null()]),
      author: Type.String({
        description: 'Empty, as `jobId` is null, for readers of another account.',
      }),
      message: Type.String(),
      inserted: Type.Integer(),
      deleted: Type.Integer(),
      compaction: Type.Boolean(),
    }),
  ),
  failures: 'workspace',
  handle: async (call, services) => {
    const { database } = services;
    const { workspace = '', id = '' } = call.path;
    const { caller } = call;
    const dataset = findWholeDataset(caller, workspace, id, services);
    // Readers must not see the accounts, tokens and jobs of the owner.
    const hidesOrigin = isForeign(caller, dataset, services.lake);
    const limit = numberOf(call.query, 'limit') ?? VERSIONS_DEFAULT;
    const versions = await readVersions(database, dataset.tableId, limit);
    const value = versions.map(({ snapshot, timeMs, author, message, ...counts }) => ({
      snapshot,
      date: timeMs,
      jobId: hidesOrigin ? null : (JOB.exec(author)?.[1] ?? null),
      author: hidesOrigin ? '' : author.replace(JOB, ''),
      message,
      ...counts,
    }));
    return { kind: 'json', value, metering: 'free' };
  },
};

const VALUES = Type.Array(Type.Array(Type.Unknown()));

export const listChanges: Endpoint = {
  id: 'listChanges',
  method: 'GET',
  path: '/changes/:workspace/:id',
  token: 'secret',
  summary:
    'The records that each version since a moment, and the pushes that no version holds yet, ' +
    'inserted, replaced and deleted, by index.',
  weight: 'free',
  parameters: [
    {
      kind: 'text',
      name: 'since',
      help:
        'A moment as `asOf` takes it: a snapshot id, a value of `svccloud-as-of`, a date or a time. ' +
        'The versions after it are listed, oldest first, at most 100, and last the pushed records that ' +
        'no version holds yet. To continue, pass the `asOf` of the last item: nothing is listed twice.',
    },
  ],
  answer: Type.Array(
    Type.Object({
      snapshot: Type.Integer(),
      date: Type.Integer(),
      inserted: VALUES,
      replaced: VALUES,
      deleted: VALUES,
      asOf: Type.String({ description: 'The value of `since` that continues after this item.' }),
    }),
  ),
  failures: 'workspace',
  handle: async (call, services) => {
    const { settings } = services;
    const { workspace = '', id = '' } = call.path;
    const dataset = findWholeDataset(call.caller, workspace, id, services);
    const asOf = parseAsOf(textOf(call.query, 'since'), settings.zone, 'since');
    const since = asOf ?? refuse('since', 'is required');
    if (!isIndexed(dataset)) throw new Failure('InvalidBody', 'the dataset has no unique index');
    const value = await listChangesSince(dataset, since, services);
    return { kind: 'json', value, metering: 'free' };
  },
};
