// Lists, releases or discards records that violated an expectation of their dataset.
import { Type } from '../../../reads/request/schema.ts';
import { releaseRecords } from '../../../pipeline/edit/release.ts';
import type { Dataset } from '../../../store/lake/datasets/datasets.ts';
import {
  removeQuarantined,
  listQuarantined,
  QUARANTINE_MAX,
  type QuarantinedRecord,
  type QuarantineFilter,
} from '../../../store/lake/datasets/quarantine.ts';
import { parseExact } from '../../../store/base/exactJson.ts';
import { checkStorage } from '../../../store/lake/storage.ts';
import { findDataset, findManagedWorkspace } from '../../../reads/rights/access.ts';
import type { Call, Endpoint, Services } from '../../request/endpoint.ts';
import { DUPLICATE_PARAMETERS, readDuplicates } from '../../datasets/ingest/loadParameters.ts';
import {
  listOf,
  numberOf,
  type Parameter,
  refuse,
  textOf,
} from '../../../reads/request/parameters.ts';
import { toFreeAnswer } from '../../request/rows.ts';

/** Records of one list by default. */
const LIST_DEFAULT = 100;
/** Ids in one call. */
const IDS_MAX = 100;

const SELECTION: readonly Parameter[] = [
  {
    kind: 'text',
    name: 'jobId',
    pattern: /^[0-9a-f]{32}$/,
    rule: 'must be the id of a job',
    help: 'Only records of this job.',
  },
  { kind: 'list', name: 'ids', help: 'Only these records, by their ids, separated by commas.' },
];

/** Common members of the rows. */
const ROW = {
  token: 'secret',
  weight: 'free',
  failures: 'workspace',
} as const satisfies Partial<Endpoint>;

function ownDataset(call: Call, { lake }: Pick<Services, 'lake'>): Dataset {
  const { workspace = '', id = '' } = call.path;
  const { caller } = call;
  return findDataset(caller, findManagedWorkspace(caller, workspace, lake).workspace, id, lake);
}

function readSelection({ query }: Call): QuarantineFilter {
  const ids = listOf(query, 'ids');
  if (ids !== undefined && (ids.length === 0 || ids.length > IDS_MAX)) {
    refuse('ids', `must be 1 to ${IDS_MAX} ids`);
  }
  return { jobId: textOf(query, 'jobId'), ids };
}

export const listQuarantine: Endpoint = {
  ...ROW,
  id: 'listQuarantine',
  method: 'GET',
  path: '/quarantine/:workspace/:id',
  summary: 'The records that violated an expectation of the dataset, oldest first.',
  parameters: [
    ...SELECTION,
    { kind: 'integer', name: 'limit', least: 1, most: QUARANTINE_MAX, help: 'At most n records.' },
  ],
  answer: Type.Array(
    Type.Object({
      id: Type.String(),
      jobId: Type.Union([Type.String(), Type.Null()]),
      line: Type.Integer(),
      rule: Type.String(),
      date: Type.Integer(),
      record: Type.Union([Type.Object({}, { additionalProperties: true }), Type.Null()]),
    }),
  ),
  handle: async (call, services) => {
    const { tableId } = ownDataset(call, services);
    const limit = numberOf(call.query, 'limit') ?? LIST_DEFAULT;
    const records = await listQuarantined(services.database, tableId, readSelection(call), limit);
    return toFreeAnswer(records.map(toView));
  },
};

function toView({ document, id, jobId, line, rule, timeMs }: QuarantinedRecord): object {
  return { id, jobId, line, rule, date: timeMs, record: parseExact(document) };
}

export const releaseQuarantine: Endpoint = {
  ...ROW,
  id: 'releaseQuarantine',
  method: 'POST',
  path: '/quarantine/:workspace/:id/release',
  summary: 'Releases all or some quarantined records into the dataset despite its expectations.',
  parameters: [...SELECTION, ...DUPLICATE_PARAMETERS],
  answer: Type.Object({
    success: Type.Literal(true),
    message: Type.String(),
    recordsIngested: Type.Integer(),
    recordsDuplicate: Type.Integer(),
    recordsInvalid: Type.Integer(),
  }),
  handle: async (call, services) => {
    const { database, ingestion, runner, storage } = services;
    const { caller } = call;
    const { workspace, dataset: name } = ownDataset(call, services);
    await checkStorage(storage, caller.account, workspace);
    const selection = readSelection(call);
    // They arrived before records stored since: by default repeats of stored records stay in quarantine.
    const isChosen = call.query['duplicates'] ?? call.query['duplicateKeyHandling'];
    const duplicates = isChosen === undefined ? 'reject' : readDuplicates(call.query).duplicates;
    const released = await runner.inTurn(workspace, name, async () => {
      const dataset = ownDataset(call, services);
      const records = await listQuarantined(database, dataset.tableId, selection, QUARANTINE_MAX);
      return releaseRecords(dataset, records, duplicates, caller.accountId, ingestion);
    });
    const value = {
      success: true,
      message: `released ${released.ingested + released.duplicates} records`,
      recordsIngested: released.ingested,
      recordsDuplicate: released.duplicates,
      recordsInvalid: released.invalid,
    };
    return { kind: 'json', value, metering: 'free' };
  },
};

export const discardQuarantine: Endpoint = {
  ...ROW,
  id: 'discardQuarantine',
  method: 'DELETE',
  path: '/quarantine/:workspace/:id',
  summary: 'Discards records in quarantine, all or some.',
  parameters: SELECTION,
  answer: Type.Object({ success: Type.Literal(true), message: Type.String() }),
  handle: async (call, services) => {
    const { database, runner } = services;
    const { workspace, dataset } = ownDataset(call, services);
    const selection = readSelection(call);
    const discarded = await runner.inTurn(workspace, dataset, () =>
      removeQuarantined(database, ownDataset(call, services).tableId, selection),
    );
    const value = { success: true, message: `discarded ${discarded} records` };
    return { kind: 'json', value, metering: 'free' };
  },
};
