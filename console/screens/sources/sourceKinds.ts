// Form fields of each kind of source: members of the source and of its credential.

export interface Field {
  /** Member of the request body. */
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly placeholder?: string;
  readonly required?: true;
  /** Password input. */
  readonly secret?: true;
  /** Sent as a number if the text parses as one. */
  readonly number?: true;
}

export interface Kind {
  readonly type: string;
  readonly title: string;
  readonly fields: readonly Field[];
  /** A credential is created only if any of these fields is filled in. */
  readonly credential?: readonly Field[];
}

const RECORDS: Field = {
  name: 'jsonPath',
  label: 'Path of the records in a JSON document',
  hint: 'For example $.data[*]. Leave empty to detect it.',
};
const DATASET: Field = {
  name: 'dataset',
  label: 'Dataset',
  hint: 'An existing dataset with types and an index. Records are stored as they arrive.',
  required: true,
};

const requiredField = (name: string, label: string, placeholder: string): Field => {
  return { name, label, placeholder, required: true };
};

/** A feed of messages, which are stored in an existing dataset as they arrive. */
const feedKind = (type: string, title: string, placeholder: string): Kind => ({
  type,
  title,
  fields: [
    requiredField('url', 'URL', placeholder),
    DATASET,
    { ...RECORDS, label: 'Path of the records in a message' },
  ],
});

export const KINDS: readonly [Kind, ...Kind[]] = [
  {
    type: 'HTTP',
    title: 'URL',
    fields: [requiredField('url', 'URL', 'https://example.com/prices.csv'), RECORDS],
  },
  {
    type: 'FILE',
    title: 'File in the server’s source folder',
    fields: [requiredField('path', 'Path', 'daily/prices.csv'), RECORDS],
  },
  {
    type: 'AWS-S3',
    title: 'Bucket (S3)',
    fields: [
      requiredField('awsbucketName', 'Bucket', 'my-prices'),
      {
        ...requiredField('pattern', 'Objects', 'daily/*.csv'),
        hint: 'A pattern of object keys. New objects are loaded, oldest first.',
      },
      { name: 'region', label: 'Region', placeholder: 'us-east-1' },
      { name: 'endpoint', label: 'Endpoint', hint: 'For object stores other than Amazon S3.' },
      RECORDS,
    ],
    credential: [
      { name: 'accessKeyId', label: 'Access key' },
      { name: 'secretAccessKey', label: 'Secret access key', secret: true },
    ],
  },
  {
    type: 'POSTGRES',
    title: 'PostgreSQL table',
    fields: [
      requiredField('table', 'Table', 'public.prices'),
      {
        name: 'incrementalColumn',
        label: 'Incremental column',
        hint: 'Loads only rows above the last value loaded. Leave empty to load all rows when any changed.',
      },
    ],
    credential: [
      { name: 'host', label: 'Host', required: true },
      { name: 'database', label: 'Database', required: true },
      { name: 'user', label: 'User', required: true },
      { name: 'password', label: 'Password', secret: true, required: true },
      { name: 'port', label: 'Port', placeholder: '5432', number: true },
    ],
  },
  feedKind('SSE', 'Event feed (SSE)', 'https://feed.example.com/ticks'),
  feedKind('WEBSOCKET', 'WebSocket feed', 'wss://feed.example.com/ticks'),
  {
    type: 'CAPTURE',
    title: 'Recorded exchange feed',
    fields: [
      requiredField('path', 'Path', '2018/TOPS16.pcapng.gz'),
      {
        ...requiredField('dataset', 'Dataset', 'TRADES'),
        hint: 'The messages to store: TRADES, QUOTES or BOOK.',
      },
      {
        name: 'speed',
        label: 'Speed',
        placeholder: '1',
        hint: 'Multiple of the original speed, or max.',
        number: true,
      },
    ],
  },
];

export type Values = Readonly<Record<string, string>>;

/** Returns the body members whose fields are filled in. */
export function toMembers(
  fields: readonly Field[],
  values: Values,
): Readonly<Record<string, string | number>> {
  const entries = fields.flatMap(({ name, number, secret }) => {
    const input = values[name] ?? '';
    // A password may begin with a space.
    const text = secret === true ? input : input.trim();
    if (text === '') return [];
    const value = Number(text);
    return [[name, number === true && Number.isFinite(value) ? value : text] as const];
  });
  return Object.fromEntries(entries);
}
