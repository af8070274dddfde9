// Loading data: the body goes to a durable spool file, then a job takes it from there.
import { Type } from 'typebox';
import { checkJsonPath } from '../../pipeline/json.ts';
import { checkName } from '../../store/columns.ts';
import type { ColumnMapping } from '../../store/datasets.ts';
import { checkStorage } from '../../store/storage.ts';
import { Failure } from '../../store/failure.ts';
import { callerOf, changeableIn, checkDatasetRoom } from '../access.ts';
import type { Endpoint } from '../endpoint.ts';
import { DUPLICATES, duplicatesOf } from '../loading.ts';
import { numberOf, type Parameter, textOf, truthOf, type Values } from '../parameters.ts';
import { spoolBody } from '../spool.ts';

const name = (part: string): Parameter => ({
  kind: 'text',
  name: part,
  help: `Property that is the ${part}, when this load makes the dataset; guessed by its name.`,
});

export const loadData: Endpoint = {
  id: 'loadData',
  method: 'POST',
  path: '/data/:workspace/:id',
  token: 'granted',
  summary:
    'Loads CSV, JSON, JSON lines or Parquet, also packed; makes the dataset when there is none.',
  weight: 'free',
  parameters: [
    { kind: 'boolean', name: 'wait', help: 'Answer when the job has ended.' },
    DUPLICATES,
    {
      kind: 'boolean',
      name: 'overwrite',
      help: 'The load takes the place of every record that is stored.',
    },
    {
      kind: 'integer',
      name: 'maximumValidationErrors',
      least: 0,
      most: 1_000_000_000,
      help: 'Invalid records after which nothing is ingested; without it they are left out.',
    },
    {
      kind: 'text',
      name: 'jsonPath',
      help: 'Where the array of records stands in a JSON document: $ with steps .name and [*].',
    },
    name('key'),
    name('subkey'),
    name('date'),
  ],
  body: { kind: 'file' },
  answer: Type.Object({
    success: Type.Literal(true),
    message: Type.String(),
    jobId: Type.String(),
    jobUrl: Type.String(),
  }),
  failures: 'workspace',
  handle: async (call, services) => {
    const { lake, runner } = services;
    const caller = callerOf(call.caller);
    const { workspace: place = '', id = '' } = call.path;
    checkName('datasetId', id);
    const owned = changeableIn(caller, place, id, 'write', lake);
    const { workspace } = owned;
    const known = lake.catalogue.dataset(workspace, id);
    if (known === undefined) checkDatasetRoom(caller, owned, id, services);
    await checkStorage(services.storage, caller.account, workspace);
    const dataset = known?.dataset ?? id;
    const mapping = mappingOf(call.query);
    const given = textOf(call.query, 'jsonPath');
    const jsonPath = given === undefined ? undefined : checkJsonPath(given);
    const spooled = await spoolBody(call, services);
    const jobId = await runner.submit({
      path: spooled.path,
      bytes: spooled.bytes,
      ownFile: true,
      accountId: caller.accountId,
      workspace,
      dataset,
      duplicates: duplicatesOf(call.query),
      overwrite: truthOf(call.query, 'overwrite'),
      rejectsMax: numberOf(call.query, 'maximumValidationErrors') ?? Number.MAX_SAFE_INTEGER,
      ...(mapping === undefined ? {} : { mapping }),
      ...(jsonPath === undefined ? {} : { jsonPath }),
    });
    if (truthOf(call.query, 'wait')) {
      const job = await runner.ended(jobId);
      if (job.status !== 'INGESTED') {
        throw new Failure('InvalidBody', `job ${jobId} ended in ${job.status}: ${job.error}`);
      }
    }
    const done = `Data upload of ${spooled.bytes}B for ${dataset} completed`;
    const message = `${done}, jobId: ${jobId} has been created`;
    const jobUrl = `/v1/jobs/${workspace}/ingest/${jobId}`;
    return { kind: 'json', value: { success: true, message, jobId, jobUrl }, metering: 'free' };
  },
};

function mappingOf(query: Values): ColumnMapping | undefined {
  const parts = (['key', 'subkey', 'date'] as const).flatMap((part) => {
    const property = textOf(query, part);
    return property === undefined ? [] : [[part, property] as const];
  });
  return parts.length === 0 ? undefined : Object.fromEntries(parts);
}
