// Tools that find, describe and sample datasets.
import { Type } from '../../reads/request/schema.ts';
import { parseJson, refusal, toResult, type Tool } from './tool.ts';

/** Datasets listed in one answer. */
const DATASETS_DEFAULT = 20;
const DATASETS_MAX = 50;
const SAMPLE_MAX = 20;

export const WORKSPACE = Type.String({
  minLength: 1,
  maxLength: 128,
  description: 'Name of the workspace, such as CORE',
});
export const DATASET = Type.String({
  minLength: 1,
  maxLength: 128,
  description: 'Name of the dataset in the workspace',
});
export const KEY = Type.String({
  minLength: 1,
  maxLength: 1_500,
  description: 'Value of the key, such as a symbol; several with commas between them',
});

interface DatasetEntry {
  readonly workspace: string;
  readonly datasetId: string;
  readonly title: string;
  readonly description: string;
  readonly weight: number;
  readonly columnMapping: Readonly<Record<string, string>>;
  readonly schema: { readonly properties: Readonly<Record<string, { readonly type?: string }>> };
}

const parseDatasets = (text: string): readonly DatasetEntry[] =>
  (parseJson(text) ?? []) as readonly DatasetEntry[];

const searchText = ({ datasetId, description, schema, title, workspace }: DatasetEntry): string =>
  [`${workspace}.${datasetId}`, title, description, ...Object.keys(schema.properties)]
    .join(' ')
    .toLowerCase();

const formatLine = ({
  columnMapping,
  datasetId,
  title,
  weight,
  workspace,
  ...rest
}: DatasetEntry): string => {
  const label = title === '' ? rest.description : title;
  const index = Object.entries(columnMapping).map(([role, name]) => `${role}=${name}`);
  const columns = Object.keys(rest.schema.properties).slice(0, 12).join(', ');
  return `${workspace}.${datasetId} (${weight} a record; ${index.join(' ')}): ${label} [${columns}]`;
};

export const searchDatasets: Tool = {
  name: 'search_datasets',
  title: 'Search datasets',
  description:
    'Finds datasets that the token may read, by words in their names, descriptions and columns. Free. ' +
    'Without text it lists all. Begin here.',
  input: Type.Object(
    {
      text: Type.Optional(
        Type.String({ maxLength: 200, description: 'Words, all of which count' }),
      ),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: DATASETS_MAX })),
    },
    { additionalProperties: false },
  ),
  run: async ({ limit = DATASETS_DEFAULT, text = '' }, { send }) => {
    const words = String(text).toLowerCase().split(/\s+/).filter(Boolean);
    return toResult(await send({ method: 'GET', path: '/data' }), (body) => {
      const matches = parseDatasets(body).filter((one) =>
        words.every((word) => searchText(one).includes(word)),
      );
      const lines = matches.slice(0, Number(limit)).map(formatLine);
      const more = matches.length - lines.length;
      if (matches.length === 0) return 'no dataset has these words; without text all are listed';
      return [...lines, ...(more > 0 ? [`… and ${more} more: add another word`] : [])].join('\n');
    });
  },
};

export const describeDataset: Tool = {
  name: 'describe_dataset',
  title: 'Describe a dataset',
  description: 'Columns with their types, index, price and source of one dataset. Free.',
  input: Type.Object({ workspace: WORKSPACE, dataset: DATASET }, { additionalProperties: false }),
  run: async ({ dataset, workspace }, { send }) => {
    const response = await send({ method: 'GET', path: '/data' });
    const same = (a: string, b: unknown): boolean => a.toUpperCase() === String(b).toUpperCase();
    const match = parseDatasets(response.text).find(
      (one) => same(one.workspace, workspace) && same(one.datasetId, dataset),
    );
    const name = `${String(workspace)}.${String(dataset)}`;
    return response.status < 400 && match === undefined
      ? refusal(`there is no dataset ${name} that the token may read; search_datasets lists them`)
      : toResult(response, () => JSON.stringify(match, undefined, 1));
  },
};

export const sampleRecords: Tool = {
  name: 'sample_records',
  title: 'Look at a few records',
  description:
    `The newest records of a dataset, or of one key of it, at most ${SAMPLE_MAX}. Costs its ` +
    `weight for each.`,
  input: Type.Object(
    {
      workspace: WORKSPACE,
      dataset: DATASET,
      key: Type.Optional(KEY),
      count: Type.Optional(Type.Integer({ minimum: 1, maximum: SAMPLE_MAX })),
    },
    { additionalProperties: false },
  ),
  run: async ({ count = 5, dataset, key, workspace }, { send }) => {
    const parts = [workspace, dataset, ...(key === undefined ? [] : [key])];
    const path = `/data/${parts.map((part) => encodeURIComponent(String(part))).join('/')}`;
    return toResult(await send({ method: 'GET', path, query: { last: Number(count) } }));
  },
};
