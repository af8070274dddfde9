// Tools that find datasets and say what they are.
import { Type } from '../request/body/schema.ts';
import { parsed, refusal, resultOf, type Tool } from './tool.ts';

/** Datasets that are told at once. */
const FOUND = 20;
const FOUND_MAX = 50;
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

interface Listed {
  readonly workspace: string;
  readonly datasetId: string;
  readonly title: string;
  readonly description: string;
  readonly weight: number;
  readonly columnMapping: Readonly<Record<string, string>>;
  readonly schema: { readonly properties: Readonly<Record<string, { readonly type?: string }>> };
}

const listOf = (text: string): readonly Listed[] => (parsed(text) ?? []) as readonly Listed[];

const textOf = ({ datasetId, description, schema, title, workspace }: Listed): string =>
  [`${workspace}.${datasetId}`, title, description, ...Object.keys(schema.properties)]
    .join(' ')
    .toLowerCase();

const lineOf = ({
  columnMapping,
  datasetId,
  title,
  weight,
  workspace,
  ...rest
}: Listed): string => {
  const said = title === '' ? rest.description : title;
  const index = Object.entries(columnMapping).map(([role, name]) => `${role}=${name}`);
  const columns = Object.keys(rest.schema.properties).slice(0, 12).join(', ');
  return `${workspace}.${datasetId} (${weight} a record; ${index.join(' ')}): ${said} [${columns}]`;
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
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: FOUND_MAX })),
    },
    { additionalProperties: false },
  ),
  run: async ({ limit = FOUND, text = '' }, { ask }) => {
    const words = String(text).toLowerCase().split(/\s+/).filter(Boolean);
    return resultOf(await ask({ method: 'GET', path: '/data' }), (told) => {
      const found = listOf(told).filter((one) => words.every((word) => textOf(one).includes(word)));
      const shown = found.slice(0, Number(limit)).map(lineOf);
      const more = found.length - shown.length;
      if (found.length === 0) return 'no dataset has these words; without text all are listed';
      return [...shown, ...(more > 0 ? [`… and ${more} more: say another word`] : [])].join('\n');
    });
  },
};

export const describeDataset: Tool = {
  name: 'describe_dataset',
  title: 'Describe a dataset',
  description: 'Columns with their types, index, price and source of one dataset. Free.',
  input: Type.Object({ workspace: WORKSPACE, dataset: DATASET }, { additionalProperties: false }),
  run: async ({ dataset, workspace }, { ask }) => {
    const answered = await ask({ method: 'GET', path: '/data' });
    const same = (a: string, b: unknown): boolean => a.toUpperCase() === String(b).toUpperCase();
    const known = listOf(answered.text).find(
      (one) => same(one.workspace, workspace) && same(one.datasetId, dataset),
    );
    const name = `${String(workspace)}.${String(dataset)}`;
    return answered.status < 400 && known === undefined
      ? refusal(`there is no dataset ${name} that the token may read; search_datasets lists them`)
      : resultOf(answered, () => JSON.stringify(known, undefined, 1));
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
  run: async ({ count = 5, dataset, key, workspace }, { ask }) => {
    const parts = [workspace, dataset, ...(key === undefined ? [] : [key])];
    const path = `/data/${parts.map((part) => encodeURIComponent(String(part))).join('/')}`;
    return resultOf(await ask({ method: 'GET', path, query: { last: Number(count) } }));
  },
};
