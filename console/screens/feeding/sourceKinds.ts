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

const needed = (name: string, label: string, placeholder: string): Field => {
  return { name, label, placeholder, required: true };
};

/** A feed of messages: its dataset hears of them as they come. */
const feed = (type: string, title: string, placeholder: string): Kind => ({
  type,
  title,
  fields: [
    needed('url', 'URL', placeholder),
    DATASET,
    { ...RECORDS, label: 'Path of the records in a message' },
  ],
});

export const KINDS: readonly [Kind, ...Kind[]] = [
  {
    type: 'HTTP',
    title: 'URL',
    fields: [needed('url', 'URL', 'https://example.com/prices.csv'), RECORDS],
  },
  {
    type: 'FILE',
    title: 'File of the server’s source folder',
    fields: [needed('path', 'Path', 'daily/prices.csv'), RECORDS],
  },
  {
    type: 'AWS-S3',
    title: 'Bucket (S3)',
    fields: [
      needed('awsbucketName', 'Bucket', 'my-prices'),
      {
        ...needed('pattern', 'Objects', 'daily/*.csv'),
        hint: 'A pattern of their keys; new ones are loaded, the oldest first.',
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
      needed('table', 'Table', 'public.prices'),
      {
        name: 'incrementalColumn',
        label: 'Column that grows',
        hint: 'Rows above the greatest value loaded are taken. Empty: all rows, when any changed.',
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
  feed('SSE', 'Feed of events (SSE)', 'https://feed.example.com/ticks'),
  feed('WEBSOCKET', 'Feed of a WebSocket', 'wss://feed.example.com/ticks'),
  {
    type: 'CAPTURE',
    title: 'Recording of an exchange’s feed',
    fields: [
      needed('path', 'Path', '2018/TOPS16.pcapng.gz'),
      {
        ...needed('dataset', 'Dataset', 'TRADES'),
        hint: 'TRADES, QUOTES or BOOK: what of it is stored.',
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
