// Loads data: the body is written to a durable spool file, which a job then reads.
import { Type } from '../../../reads/request/schema.ts';
import { dryRun } from '../../../pipeline/edit/dryRun.ts';
import { checkJsonPath } from '../../../pipeline/decode/json/jsonPath.ts';
import { checkName } from '../../../store/lake/versions/columns.ts';
import type { ColumnMapping } from '../../../store/lake/datasets/datasets.ts';
import { checkStorage } from '../../../store/lake/storage.ts';
import {
  findWritableWorkspace,
  checkDatasetRoom,
  checkKind,
} from '../../../reads/rights/access.ts';
import { DRY_RUN, dryRunView } from '../../datasets/ingest/dryRunView.ts';
import type { Call, Endpoint, Services } from '../../request/endpoint.ts';
import type { Answer } from '../../../reads/request/answer.ts';
import {
  DATE_ORDER,
  JSON_PATH,
  parseDateOrder,
  FILE_DUPLICATES,
  readDuplicates,
  READING_PARAMETERS,
  parseReading,
  parseUniqueness,
} from '../../datasets/ingest/loadParameters.ts';
import {
  numberOf,
  type Parameter,
  textOf,
  truthOf,
  type Values,
} from '../../../reads/request/parameters.ts';
import { toFreeAnswer } from '../../request/rows.ts';
import { createOnce } from '../../request/writeOnce.ts';
import { spoolBody } from '../../http/spool.ts';
import { JOB_CREATED, answerJobCreated, WAIT } from './jobs.ts';
import type { LoadOrder } from '../../../jobs/run/order.ts';
import { recogniseFile, recognisedOutcome } from '../../../jobs/run/recognise.ts';

const indexParameter = (part: string): Parameter => ({
  kind: 'text',
  name: part,
  help: `Property that is the ${part}, of a dataset that this load creates; inferred by default.`,
});

export const loadData: Endpoint = {
  id: 'loadData',
  method: 'POST',
  path: '/data/:workspace/:id',
  token: 'granted',
  once: true,
  summary:
    'Loads CSV, JSON, JSON lines, Parquet or Arrow, also compressed; creates a missing dataset.',
  weight: 'free',
  parameters: [
    WAIT,
    ...FILE_DUPLICATES,
    {
      kind: 'boolean',
      name: 'overwrite',
      help: 'The load replaces all stored records.',
    },
    {
      kind: 'integer',
      name: 'maximumValidationErrors',
      least: 0,
      most: 1_000_000_000,
      help: 'Most invalid records; with more, nothing is ingested. By default any number is left out.',
    },
    JSON_PATH,
    DATE_ORDER,
    ...READING_PARAMETERS,
    {
      kind: 'boolean',
      name: 'dryRun',
      help: 'true: reports what the load would do, and changes nothing. Needs a secret token.',
    },
    indexParameter('key'),
    indexParameter('subkey'),
    indexParameter('date'),
    {
      kind: 'boolean',
      name: 'uniqueIndex',
      help: 'false: a dataset that this load creates keeps every record, also equal ones, as they arrive.',
    },
  ],
  body: { kind: 'file' },
  answer: Type.Union([JOB_CREATED, DRY_RUN]),
  failures: 'workspace',
  handle: async (call, services) => {
    const { lake } = services;
    const { caller } = call;
    const isDryRun = truthOf(call.query, 'dryRun');
    // A dry run reveals which records are stored, which the right to write excludes.
    if (isDryRun) checkKind(caller, 'secret');
    const { workspace: place = '', id = '' } = call.path;
    checkName('datasetId', id);
    const owned = findWritableWorkspace(caller, place, id, 'write', lake);
    const { workspace } = owned;
    const existing = lake.directory.dataset(workspace, id);
    if (existing === undefined) checkDatasetRoom(caller, owned, id, services);
    await checkStorage(services.storage, caller.account, workspace);
    const dataset = existing?.dataset ?? id;
    const mapping = readMapping(call.query);
    const jsonPathText = textOf(call.query, 'jsonPath');
    const jsonPath = jsonPathText === undefined ? undefined : checkJsonPath(jsonPathText);
    // Invalid parameters are refused before the body is stored.
    const order = {
      workspace,
      dataset,
      ...readDuplicates(call.query),
      overwrite: truthOf(call.query, 'overwrite'),
      rejectsMax: numberOf(call.query, 'maximumValidationErrors') ?? Number.MAX_SAFE_INTEGER,
      ...(mapping === undefined ? {} : { mapping }),
      ...parseUniqueness(call.query, mapping),
      ...(jsonPath === undefined ? {} : { jsonPath }),
      ...parseDateOrder(call.query),
      ...parseReading(call.query),
    };
    const { bytes, hash, path } = await spoolBody(call, services);
    const load = { ...order, path, ownFile: true };
    const { accountId } = caller;
    if (isDryRun) return dryRunAnswer({ ...load, bytes, accountId }, call, services);
    const jobId = await submitJob({ ...load, bytes, accountId }, hash, call, services);
    const summary = `Data upload of ${bytes}B for ${dataset} completed`;
    return answerJobCreated(summary, workspace, jobId, call, services);
  },
};

/** The load request of clients of 2021 (INTERFACE.md 3.2). */
export const loadDataset: Endpoint = {
  ...loadData,
  id: 'loadDataset',
  method: 'PUT',
  path: '/datasets/:workspace/:id',
  summary: 'Loads records as `POST /data/:workspace/:id` does.',
};

/** Submits the load; removes the body's file if no job uses it. */
async function submitJob(
  order: Parameters<Services['runner']['submit']>[0],
  bodyHash: string,
  call: Call,
  services: Pick<Services, 'disk' | 'runner' | 'writeKeys'>,
): Promise<string> {
  let isSubmitted = false;
  try {
    return await createOnce(call, services, bodyHash, async (alongside) => {
      const jobId = await services.runner.submit(order, alongside);
      isSubmitted = true;
      return jobId;
    });
  } finally {
    if (!isSubmitted) await services.disk.remove(order.path);
  }
}

/** Answers a dry run and removes the body's file. */
async function dryRunAnswer(
  order: LoadOrder,
  call: Call,
  services: Pick<Services, 'clock' | 'database' | 'disk' | 'ingestion' | 'lake'>,
): Promise<Answer> {
  const { disk, ingestion, lake } = services;
  try {
    const existing = lake.directory.dataset(order.workspace, order.dataset);
    const loaded = existing && (await recogniseFile(order, '', existing, services)).loaded;
    // The load stores nothing again of a file that it recognises.
    const load = loaded === undefined ? order : { ...order, skipsIdentical: 'of-all' as const };
    const run = await dryRun(load, { ...ingestion, signal: call.departure() });
    if (loaded === undefined || loaded.is_partial) return toFreeAnswer(dryRunView(run));
    const { duplicates, ingested, notes } = recognisedOutcome(loaded);
    const records = { ...run.records, duplicates, ingested };
    return toFreeAnswer(dryRunView({ ...run, records, notes: [...notes, ...run.notes] }));
  } finally {
    await disk.remove(order.path);
  }
}

function readMapping(query: Values): ColumnMapping | undefined {
  const parts = (['key', 'subkey', 'date'] as const).flatMap((part) => {
    const property = textOf(query, part);
    return property === undefined ? [] : [[part, property] as const];
  });
  return parts.length === 0 ? undefined : Object.fromEntries(parts);
}
