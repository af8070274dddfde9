// What happened to a dataset: its versions, and which records each of them changed.
import { Type } from 'typebox';
import { readVersions } from '../../../store/history/versions.ts';
import { changesBetween } from '../../../query/series/changes.ts';
import type { SeriesEngine } from '../../../query/series/series.ts';
import type { ColumnMapping } from '../../../store/datasets/datasets.ts';
import type { Column } from '../../../store/versions/columns.ts';
import type { Table } from '../../../store/versions/lakeRead.ts';
import { netOf } from '../../../store/pushes/pendingRows.ts';
import { Failure } from '../../../store/base/failure.ts';
import { indexOf } from '../../../store/datasets/indexColumns.ts';
import { callerOf, wholeDatasetOf } from '../../auth/access.ts';
import type { Endpoint } from '../../request/endpoint.ts';
import { beginOf } from '../../read/moments.ts';
import { numberOf, refuse, textOf } from '../../request/parameters.ts';
import { readAsOf } from '../../read/series.ts';

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
      author: Type.String(),
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
    const dataset = wholeDatasetOf(callerOf(call.caller), workspace, id, services);
    const limit = numberOf(call.query, 'limit') ?? VERSIONS_DEFAULT;
    const versions = await readVersions(database, dataset.tableId, limit);
    const value = versions.map(({ snapshot, timeMs, author, message, ...counts }) => ({
      snapshot,
      date: timeMs,
      jobId: JOB.exec(author)?.[1] ?? null,
      author: author.replace(JOB, ''),
      message,
      ...counts,
    }));
    return { kind: 'json', value, metering: 'free' };
  },
};

/** Versions of one answer: the next call goes on from the last of them. */
const CHANGED_VERSIONS_MAX = 100;

const VALUES = Type.Array(Type.Array(Type.Unknown()));

export const listChanges: Endpoint = {
  id: 'listChanges',
  method: 'GET',
  path: '/changes/:workspace/:id',
  token: 'secret',
  summary:
    'The records that each version since a snapshot inserted, replaced and deleted, by index.',
  weight: 'free',
  parameters: [
    {
      kind: 'text',
      name: 'since',
      help:
        'A moment as `asOf` takes it: a snapshot id, what `svccloud-as-of` said, a date or a time. ' +
        'The versions after it are told, oldest first, at most 100.',
    },
  ],
  answer: Type.Array(
    Type.Object({
      snapshot: Type.Integer(),
      date: Type.Integer(),
      inserted: VALUES,
      replaced: VALUES,
      deleted: VALUES,
    }),
  ),
  failures: 'workspace',
  handle: async (call, services) => {
    const { database, lake, series, settings } = services;
    const { workspace = '', id = '' } = call.path;
    const { mapping, numbered, tableId } = wholeDatasetOf(
      callerOf(call.caller),
      workspace,
      id,
      services,
    );
    const asked = readAsOf(textOf(call.query, 'since'), settings.zone, 'since');
    const since = asked ?? refuse('since', 'is required');
    const begin = await beginOf(tableId, since, services);
    if (mapping.key === undefined && mapping.date === undefined && !numbered) {
      throw new Failure('InvalidBody', 'the dataset has no unique index');
    }
    const versions = await readVersions(database, tableId, VERSIONS_MAX, begin.snapshot);
    const value = [];
    for (const { compaction, snapshot, timeMs } of versions.toReversed()) {
      if (value.length === CHANGED_VERSIONS_MAX) break;
      const earlier = await lake.snapshotBefore(snapshot);
      // Beside its predecessor it changes no record; else it also tells what was thinned out.
      if (compaction && earlier === snapshot - 1) continue;
      const after = await lake.tableAt(tableId, snapshot);
      if (after === undefined) continue;
      const before = (await lake.tableAt(tableId, earlier)) ?? { ...after, files: [] };
      const names = indexOf(mapping, after);
      // Where the index became another one, by what both versions have of it; nothing else changed then.
      const both = after.columns.filter(({ id }) => before.columns.some((one) => one.id === id));
      const index = names.flatMap((name) => both.filter((one) => one.name === name));
      if (index.length < names.length && before.records === after.records) continue;
      const known = begin.known.filter((row) => row.snapshot > earlier && row.snapshot <= snapshot);
      const changes =
        both.length === 0
          ? await allReplaced(before, after, mapping, series)
          : await changesBetween(before, after, index, netOf(known), series);
      if (compaction && isEmpty(changes)) continue;
      value.push({ snapshot, date: timeMs, ...changes });
    }
    return { kind: 'json', value, metering: 'free' };
  },
};

/** Of two versions that share no column, where a stand-in gave way: all of one, and all of the other. */
async function allReplaced(
  before: Table,
  after: Table,
  mapping: ColumnMapping,
  series: SeriesEngine,
): ReturnType<typeof changesBetween> {
  const indexIn = (version: Table): readonly Column[] =>
    indexOf(mapping, version).flatMap((name) =>
      version.columns.filter((column) => column.name === name),
    );
  const nothing = { files: [], records: 0 };
  const [gone, come] = await Promise.all([
    changesBetween(before, { ...before, ...nothing }, indexIn(before), [], series),
    changesBetween({ ...after, ...nothing }, after, indexIn(after), [], series),
  ]);
  return { inserted: come.inserted, replaced: [], deleted: gone.deleted };
}

const isEmpty = ({
  inserted,
  replaced,
  deleted,
}: Awaited<ReturnType<typeof changesBetween>>): boolean =>
  inserted.length + replaced.length + deleted.length === 0;
