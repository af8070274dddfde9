// Data sources: stored definitions from which schedules and jobs load records.
import type { Static } from 'typebox';
import { SQL_BODY_BYTES_MAX } from '../../../reads/request/bodyLimits.ts';
import { Type } from '../../../reads/request/schema.ts';
import { checkDefinition } from '../../../pipeline/sources/pull.ts';
import type { SourceDefinition } from '../../../pipeline/sources/base/source.ts';
import {
  type DataSourceRow,
  findCredential,
  findSource,
  insertSource,
  listSources,
  newSourceId,
  removeSource,
  updateSource,
} from '../../../store/work/dataSources.ts';
import { Failure } from '../../../store/base/failure.ts';
import { CORE } from '../../../store/lake/datasets/datasets.ts';
import { findPathWorkspace } from '../../../reads/rights/access.ts';
import type { Call, Endpoint, Services } from '../../request/endpoint.ts';
import type { Answer } from '../../../reads/request/answer.ts';
import { inRange, LIST_PARAMETERS, listRange } from '../../request/listRange.ts';
import { ANY, toFreeAnswer, OWNERS_ROW } from '../../request/rows.ts';
import { parseDefinition, SOURCE_BODY } from '../../datasets/ingest/sourceBody.ts';

type SourcesServices = Pick<Services, 'clock' | 'database' | 'lake' | 'settings' | 'upstreams'>;

const CHANGED = Type.Object({
  success: Type.Literal(true),
  message: Type.String(),
  dataSourceId: Type.String(),
});

export const createSource: Endpoint = {
  ...OWNERS_ROW,
  id: 'createDataSource',
  method: 'POST',
  path: '/data-sources/:workspace',
  summary: 'Stores the definition of a data source; nothing is fetched yet.',
  body: { kind: 'json', schema: SOURCE_BODY, bytesMax: SQL_BODY_BYTES_MAX },
  answer: CHANGED,
  handle: async (call, services) => {
    const body = call.json as Static<typeof SOURCE_BODY>;
    const row = await newSource(body, findPathWorkspace(call, services).workspace, false, services);
    await insertSource(services.database, row);
    await services.upstreams.refollow({ ...row, generated: 0 });
    return changedAnswer('created', row.source_id);
  },
};

/** Builds the row of a data source. @throws Failure InvalidBody naming the member and its rule. */
export async function newSource(
  body: Static<typeof SOURCE_BODY>,
  workspace: string,
  generated: boolean,
  services: SourcesServices,
): Promise<Omit<DataSourceRow, 'generated'> & { readonly generated: boolean }> {
  const now = services.clock();
  const definition = parseDefinition(body);
  checkDefinition(definition, services.settings);
  checkFeed(definition, workspace, services);
  const credentialId = await resolveCredential(body, workspace, services);
  return {
    source_id: newSourceId(),
    workspace,
    name: String(body.name ?? defaultName(definition)),
    description: String(body.description ?? ''),
    type: body.type,
    definition_json: JSON.stringify(definition),
    credential_id: credentialId,
    generated,
    created_ms: now,
    updated_ms: now,
  };
}

/** @throws Failure InvalidBody for a feed whose dataset does not exist; LimitReached. */
function checkFeed(
  definition: SourceDefinition,
  workspace: string,
  { lake, upstreams }: Pick<Services, 'lake' | 'upstreams'>,
): void {
  const { type } = definition;
  if (type !== 'SSE' && type !== 'WEBSOCKET' && type !== 'CAPTURE') return;
  upstreams.checkRoom(definition);
  if (type === 'CAPTURE' && workspace === CORE) return;
  if (lake.directory.dataset(workspace, definition.dataset) !== undefined) return;
  const rule = 'create it first, so that its types and its index are known';
  throw new Failure('InvalidBody', `dataset names no dataset of ${workspace}: ${rule}`);
}

/** @throws Failure InvalidBody for a credential that does not exist, or of another type. */
async function resolveCredential(
  { credentialId, type }: Static<typeof SOURCE_BODY>,
  workspace: string,
  { database }: Pick<Services, 'database'>,
): Promise<string | null> {
  if (credentialId === undefined) {
    if (type !== 'AWS-S3' && type !== 'POSTGRES') return null;
    throw new Failure('InvalidBody', `credentialId is required of a source of type ${type}`);
  }
  const row = await findCredential(database, workspace, String(credentialId));
  // A feed is opened like an HTTP request.
  const requiredType = type === 'SSE' || type === 'WEBSOCKET' ? 'HTTP' : type;
  if (row?.type === requiredType) return row.credential_id;
  throw new Failure('InvalidBody', `credentialId names no credential of type ${requiredType}`);
}

function defaultName(definition: SourceDefinition): string {
  if ('url' in definition) return definition.url.slice(0, 200);
  if (definition.type === 'FILE' || definition.type === 'CAPTURE')
    return definition.path.slice(0, 200);
  if (definition.type === 'AWS-S3')
    return `${definition.awsbucketName}/${definition.key ?? definition.pattern}`;
  return (definition.type === 'POSTGRES' ? definition.table : definition.dataset) ?? 'query';
}

export const listSourcesOf: Endpoint = {
  ...OWNERS_ROW,
  id: 'listDataSources',
  method: 'GET',
  path: '/data-sources/:workspace',
  summary: 'The data sources of a workspace.',
  parameters: LIST_PARAMETERS,
  answer: Type.Array(ANY),
  handle: async (call, services) => {
    const rows = await listSources(services.database, findPathWorkspace(call, services).workspace);
    const range = listRange(call.query, services.settings.zone);
    const value = inRange(rows, range, ({ created_ms }) => created_ms).map((row) =>
      toView(row, services),
    );
    return toFreeAnswer(value);
  },
};

export const getSource: Endpoint = {
  ...OWNERS_ROW,
  id: 'getDataSource',
  method: 'GET',
  path: '/data-sources/:workspace/:id',
  summary: 'A data source.',
  answer: ANY,
  handle: async (call, services) => {
    const value = toView(await ownSource(call, services), services);
    return toFreeAnswer(value);
  },
};

export const changeSource: Endpoint = {
  ...OWNERS_ROW,
  id: 'changeDataSource',
  method: 'PUT',
  path: '/data-sources/:workspace/:id',
  summary: 'Replaces a data source; its schedules use the new definition.',
  body: { kind: 'json', schema: SOURCE_BODY, bytesMax: SQL_BODY_BYTES_MAX },
  answer: CHANGED,
  handle: async (call, services) => {
    const row = await ownSource(call, services);
    const body = call.json as Static<typeof SOURCE_BODY>;
    const newRow = await newSource(
      { ...body, name: body.name ?? row.name },
      row.workspace,
      false,
      services,
    );
    const { created_ms, source_id } = row;
    const changed = { ...newRow, created_ms, source_id };
    await updateSource(services.database, changed);
    await services.upstreams.refollow({ ...changed, generated: 0 });
    return changedAnswer('updated', source_id);
  },
};

export const deleteSource: Endpoint = {
  ...OWNERS_ROW,
  id: 'deleteDataSource',
  method: 'DELETE',
  path: '/data-sources/:workspace/:id',
  summary: 'Deletes a data source that no schedule uses.',
  answer: CHANGED,
  handle: async (call, services) => {
    const row = await ownSource(call, services);
    // The feed ends first, so that its position is stored.
    await services.upstreams.unfollow(row.source_id);
    await removeSource(services.database, row).catch(async (error: unknown) => {
      await services.upstreams.refollow(row);
      throw error;
    });
    return changedAnswer('deleted', row.source_id);
  },
};

const changedAnswer = (action: string, dataSourceId: string): Answer =>
  toFreeAnswer({ success: true, message: `Data source has been ${action}`, dataSourceId });

/** The data source that the path names. @throws Failure NotFound. */
export async function ownSource(call: Call, services: SourcesServices): Promise<DataSourceRow> {
  const place = findPathWorkspace(call, services).workspace;
  const row = await findSource(services.database, place, call.path['id'] ?? '');
  if (row === undefined) throw new Failure('NotFound');
  return row;
}

const toView = (row: DataSourceRow, { upstreams }: Pick<Services, 'upstreams'>): object => ({
  dataSourceId: row.source_id,
  name: row.name,
  description: row.description,
  ...(JSON.parse(row.definition_json) as object),
  credentialId: row.credential_id,
  feed: upstreams.state(row.source_id),
  created: row.created_ms,
  updated: row.updated_ms,
});
