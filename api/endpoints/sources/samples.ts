// Previews before a load: the schema that a body or a data source suggests, and a data source's first
// records. Nothing is stored.
import { readFile } from 'node:fs/promises';
import type { Static } from 'typebox';
import { Type } from '../../../reads/request/schema.ts';
import { checkJsonPath } from '../../../pipeline/decode/json/jsonPath.ts';
import { sampleRecords, suggestSchema } from '../../../pipeline/edit/sample.ts';
import type { DataSourceRow } from '../../../store/work/dataSources.ts';
import { findPathWorkspace } from '../../../reads/rights/access.ts';
import type { Call, Endpoint, Services } from '../../request/endpoint.ts';
import type { Answer } from '../../../reads/request/answer.ts';
import { SQL_BODY_BYTES_MAX, VALUES_MAX } from '../../../reads/request/bodyLimits.ts';
import { findShapeFault } from '../../request/body/shape.ts';
import { checkBody } from '../../request/body/jsonBody.ts';
import { DATE_ORDER, parseDateOrder, JSON_PATH } from '../../datasets/ingest/loadParameters.ts';
import { type Parameter, textOf } from '../../../reads/request/parameters.ts';
import { ANY, toFreeAnswer, OWNERS_ROW } from '../../request/rows.ts';
import { SOURCE_BODY, SOURCE_TYPES } from '../../datasets/ingest/sourceBody.ts';
import { withFirstFile, withWorkbench } from '../../datasets/ingest/sourcePreview.ts';
import { spoolBody } from '../../http/spool.ts';
import { newSource, ownSource } from './sources.ts';

type SamplesServices = Pick<Services, 'clock' | 'disk' | 'fetching' | 'ingestion'>;

/** Records of a sample. */
const SAMPLE_MAX = 100;

const CREDENTIAL: Parameter = {
  kind: 'text',
  name: 'credentialId',
  help: 'Credential to use instead of that of the source.',
};

export const sampleSource: Endpoint = {
  ...OWNERS_ROW,
  id: 'sampleDataSource',
  method: 'GET',
  path: '/sample-data-source/:workspace/:id',
  summary: 'The first 100 records of a data source, as their own values suggest their types.',
  parameters: [CREDENTIAL],
  answer: Type.Array(ANY),
  handle: async (call, services) => {
    const row = await ownSource(call, services);
    const text = await withFirstFile(
      row,
      credentialParameter(call),
      call,
      services,
      (piece, bench) => sampleRecords(piece.path, piece.jsonPath, SAMPLE_MAX, bench),
    );
    return { kind: 'text', text, contentType: 'application/json; charset=utf-8' };
  },
};

export const schemaOfSource: Endpoint = {
  ...OWNERS_ROW,
  id: 'generateSchemaOfSource',
  method: 'GET',
  path: '/generate-schema/:workspace/:id',
  summary: 'The schema that a data source suggests; of several files, the oldest.',
  parameters: [CREDENTIAL, DATE_ORDER],
  answer: ANY,
  handle: async (call, services) => schemaFrom(await ownSource(call, services), call, services),
};

const schemaFrom = async (
  row: DataSourceRow,
  call: Call,
  services: SamplesServices,
): Promise<Answer> =>
  schemaAnswer(
    await withFirstFile(row, credentialParameter(call), call, services, (piece, bench) =>
      suggestSchema(
        piece.path,
        { jsonPath: piece.jsonPath, ...parseDateOrder(call.query) },
        services.ingestion,
        bench,
      ),
    ),
  );

const schemaAnswer = ({
  mapping,
  numbered,
  schema,
}: Awaited<ReturnType<typeof suggestSchema>>): Answer =>
  toFreeAnswer({ ...schema, columnMapping: mapping, uniqueIndex: !numbered });

export const generateSchema: Endpoint = {
  ...OWNERS_ROW,
  id: 'generateSchema',
  method: 'POST',
  path: '/generate-schema/:workspace',
  summary:
    'The schema that a body suggests, or, when it is the definition of a data source, that source.',
  parameters: [JSON_PATH, DATE_ORDER],
  body: { kind: 'file' },
  answer: ANY,
  handle: async (call, services) => {
    const { workspace } = findPathWorkspace(call, services);
    const jsonPathText = textOf(call.query, 'jsonPath');
    const jsonPath = jsonPathText === undefined ? undefined : checkJsonPath(jsonPathText);
    const { bytes, path } = await spoolBody(call, services);
    try {
      const definition = bytes > SQL_BODY_BYTES_MAX ? undefined : await readDefinition(path);
      if (definition !== undefined) {
        const row = await newSource(definition, workspace, true, services);
        return await schemaFrom({ ...row, generated: 1 }, call, services);
      }
      const schema = await withWorkbench(services, (bench) =>
        suggestSchema(path, { jsonPath, ...parseDateOrder(call.query) }, services.ingestion, bench),
      );
      return schemaAnswer(schema);
    } finally {
      await services.disk.remove(path);
    }
  },
};

/** Reads a data source definition from a file; undefined if the file has records. */
async function readDefinition(path: string): Promise<Static<typeof SOURCE_BODY> | undefined> {
  const bytes = await readFile(path);
  // No definition has this many values or levels.
  if (findShapeFault(bytes, VALUES_MAX) !== undefined) return undefined;
  const value = parseJson(bytes.toString('utf8'));
  const { type } = (value ?? {}) as { readonly type?: unknown };
  if (Array.isArray(value) || !SOURCE_TYPES.some((one) => one === type)) return undefined;
  return checkBody(SOURCE_BODY, value) as Static<typeof SOURCE_BODY>;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const credentialParameter = ({ query }: Call): string | undefined => textOf(query, 'credentialId');
