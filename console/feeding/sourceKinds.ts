// What each kind of source asks of a person: members of the source, and of the credential that opens it.

export interface Field {
  /** Member of the body. */
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly placeholder?: string;
  readonly required?: true;
  /** Hidden as it is typed. */
  readonly secret?: true;
  /** The member is a number where it reads as one. */
  readonly number?: true;
}

export interface Kind {
  readonly type: string;
  readonly title: string;
  readonly fields: readonly Field[];
  /** Filled in, a credential is kept first; without any of it none is. */
  readonly credential?: readonly Field[];
}

const RECORDS: Field = {
  name: 'jsonPath',
  label: 'Path of the records in a JSON document',
  hint: 'Such as $.data[*]. Empty: it is found.',
};
const DATASET: Field = {
  name: 'dataset',
  label: 'Dataset',
  hint: 'It is there already, with its types and its index: records go into it as they come.',
  required: true,
};

export const KINDS: readonly [Kind, ...Kind[]] = [
  {
    type: 'HTTP',
    title: 'URL',
    fields: [
      ...[{ name: 'url', label: 'URL', placeholder: 'https://example.com/prices.csv' }].map(asked),
      RECORDS,
    ],
  },
  {
    type: 'FILE',
    title: 'File of the server’s source folder',
    fields: [
      ...[{ name: 'path', label: 'Path', placeholder: 'daily/prices.csv' }].map(asked),
      RECORDS,
    ],
  },
  {
    type: 'AWS-S3',
    title: 'Bucket (S3)',
    fields: [
      ...[{ name: 'awsbucketName', label: 'Bucket', placeholder: 'my-prices' }].map(asked),
      {
        name: 'pattern',
        label: 'Objects',
        placeholder: 'daily/*.csv',
        hint: 'A pattern of their keys; new ones are loaded, the oldest first.',
        required: true,
      },
      { name: 'region', label: 'Region', placeholder: 'us-east-1' },
      { name: 'endpoint', label: 'Endpoint', hint: 'Of a store that is not Amazon’s.' },
      RECORDS,
    ],
    credential: [
      { name: 'accessKeyId', label: 'Access key' },
      { name: 'secretAccessKey', label: 'Secret access key', secret: true },
    ],
  },
  {
    type: 'POSTGRES',
    title: 'Table of PostgreSQL',
    fields: [
      ...[{ name: 'table', label: 'Table', placeholder: 'public.prices' }].map(asked),
      {
        name: 'incrementalColumn',
        label: 'Column that grows',
        hint: 'Rows above the greatest value loaded are taken. Empty: all rows, when any changed.',
      },
    ],
    credential: [
      ...[
        { name: 'host', label: 'Host' },
        { name: 'database', label: 'Database' },
        { name: 'user', label: 'User' },
      ].map(asked),
      { name: 'password', label: 'Password', secret: true, required: true },
      { name: 'port', label: 'Port', placeholder: '5432', number: true },
    ],
  },
  {
    type: 'SSE',
    title: 'Feed of events (SSE)',
    fields: [
      ...[{ name: 'url', label: 'URL', placeholder: 'https://feed.example.com/ticks' }].map(asked),
      DATASET,
      { ...RECORDS, label: 'Path of the records in a message' },
    ],
  },
  {
    type: 'WEBSOCKET',
    title: 'Feed of a WebSocket',
    fields: [
      ...[{ name: 'url', label: 'URL', placeholder: 'wss://feed.example.com/ticks' }].map(asked),
      DATASET,
      { ...RECORDS, label: 'Path of the records in a message' },
    ],
  },
  {
    type: 'CAPTURE',
    title: 'Recording of an exchange’s feed',
    fields: [
      ...[{ name: 'path', label: 'Path', placeholder: '2018/TOPS16.pcapng.gz' }].map(asked),
      {
        name: 'dataset',
        label: 'Dataset',
        placeholder: 'TRADES',
        hint: 'TRADES, QUOTES or BOOK: what of it is stored.',
        required: true,
      },
      {
        name: 'speed',
        label: 'Speed',
        placeholder: '1',
        hint: 'Times that of the exchange, or max.',
        number: true,
      },
    ],
  },
];

function asked(field: Omit<Field, 'required'>): Field {
  return { ...field, required: true };
}

export type Values = Readonly<Record<string, string>>;

/** Members of a body: those that were filled in. */
export function membersOf(
  fields: readonly Field[],
  values: Values,
): Readonly<Record<string, string | number>> {
  const filled = fields.flatMap(({ name, number, secret }) => {
    const typed = values[name] ?? '';
    // A password may begin with a space.
    const text = secret === true ? typed : typed.trim();
    if (text === '') return [];
    const value = Number(text);
    return [[name, number === true && Number.isFinite(value) ? value : text] as const];
  });
  return Object.fromEntries(filled);
}
