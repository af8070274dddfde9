// Bodies of credentials and data sources: flat objects whose `type` determines their members (INTERFACE.md
// 3.7 "Sources" has their names).
import type { Static, TSchema } from 'typebox';
import { Type } from '../../../reads/request/schema.ts';
import { checkJsonPath } from '../../../pipeline/decode/json/jsonPath.ts';
import type { Credential, SourceDefinition } from '../../../pipeline/sources/base/source.ts';
import { Failure } from '../../../store/base/failure.ts';
import { membershipRule } from '../../../store/base/valueRules.ts';

const TEXT_MAX = 10_000;
const QUERY_MAX = 100_000;
const HEADERS_MAX = 50;

const optional = (schema: TSchema): TSchema => Type.Optional(schema);
const text = (maxLength = 2_000): TSchema => Type.String({ minLength: 1, maxLength });
export const HEADERS = Type.Record(
  Type.String({ maxLength: 200 }),
  Type.String({ maxLength: 8_000 }),
  {
    maxProperties: HEADERS_MAX,
  },
);
const PAGES = Type.Object(
  {
    kind: Type.Enum(['page', 'cursor']),
    parameter: Type.String({ minLength: 1, maxLength: 200 }),
    first: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
    cursorPath: Type.Optional(Type.String({ maxLength: 2_000 })),
  },
  { additionalProperties: false },
);

const NAME = Type.String({ minLength: 1, maxLength: 200 });
const PROPERTIES_MAX = 1_000;

const LABELS = {
  name: optional(Type.String({ minLength: 1, maxLength: 200 })),
  description: optional(Type.String({ maxLength: TEXT_MAX })),
};

export const SOURCE_TYPES = [
  'HTTP',
  'FILE',
  'AWS-S3',
  'POSTGRES',
  'DATASET',
  'SSE',
  'WEBSOCKET',
  'CAPTURE',
] as const;
const CREDENTIAL_TYPES = ['HTTP', 'AWS-S3', 'POSTGRES'] as const;

const DEFINITION = {
  url: optional(text(8_000)),
  headers: optional(HEADERS),
  jsonPath: optional(text()),
  pages: optional(PAGES),
  path: optional(text()),
  awsbucketName: optional(text(255)),
  key: optional(text()),
  pattern: optional(text()),
  region: optional(text(100)),
  endpoint: optional(text(8_000)),
  table: optional(text(300)),
  query: optional(text(QUERY_MAX)),
  incrementalColumn: optional(text(300)),
  dataset: optional(text(300)),
  messages: optional(Type.Array(Type.String({ maxLength: TEXT_MAX }), { maxItems: 100 })),
  columns: optional(
    Type.Record(NAME, Type.Union([NAME, Type.Null()]), { maxProperties: PROPERTIES_MAX }),
  ),
  constants: optional(
    Type.Record(NAME, Type.Union([text(), Type.Number(), Type.Boolean()]), {
      maxProperties: PROPERTIES_MAX,
    }),
  ),
  duplicateKeyHandling: optional(Type.Enum(['ignore', 'replace'])),
  speed: optional(
    Type.Union([Type.Number({ minimum: 0.01, maximum: 100_000 }), Type.Literal('max')]),
  ),
  state: optional(Type.Enum(['ACTIVE', 'PAUSED'])),
};

export const SOURCE_BODY = Type.Object(
  {
    ...LABELS,
    type: Type.Enum([...SOURCE_TYPES]),
    credentialId: optional(text(100)),
    ...DEFINITION,
  },
  { additionalProperties: false },
);

export const CREDENTIAL_BODY = Type.Object(
  {
    ...LABELS,
    type: Type.Enum([...CREDENTIAL_TYPES]),
    accessKeyId: optional(text(500)),
    secretAccessKey: optional(text(500)),
    sessionToken: optional(text(8_000)),
    headers: optional(HEADERS),
    host: optional(text(255)),
    port: optional(Type.Integer({ minimum: 1, maximum: 65_535 })),
    database: optional(text(255)),
    user: optional(text(255)),
    password: optional(text(2_000)),
    tls: optional(Type.Enum(['on', 'off'])),
  },
  { additionalProperties: false },
);

interface Members {
  readonly required: readonly string[];
  readonly optional: readonly string[];
  /** Exactly one of these is required. */
  readonly oneOf?: readonly string[];
}

const FEED_MEMBERS = [
  'headers',
  'jsonPath',
  'columns',
  'constants',
  'duplicateKeyHandling',
  'state',
] as const;

const SOURCE_MEMBERS: Readonly<Record<(typeof SOURCE_TYPES)[number], Members>> = {
  HTTP: { required: ['url'], optional: ['headers', 'jsonPath', 'pages'] },
  FILE: { required: ['path'], optional: ['jsonPath'] },
  'AWS-S3': {
    required: ['awsbucketName'],
    optional: ['jsonPath', 'region', 'endpoint'],
    oneOf: ['key', 'pattern'],
  },
  POSTGRES: { required: [], optional: ['incrementalColumn'], oneOf: ['table', 'query'] },
  DATASET: { required: [], optional: [], oneOf: ['dataset', 'query'] },
  SSE: { required: ['url', 'dataset'], optional: FEED_MEMBERS },
  WEBSOCKET: { required: ['url', 'dataset'], optional: [...FEED_MEMBERS, 'messages'] },
  CAPTURE: {
    required: ['path', 'dataset'],
    optional: ['speed', 'columns', 'constants', 'duplicateKeyHandling', 'state'],
  },
};

const CREDENTIAL_MEMBERS: Readonly<Record<(typeof CREDENTIAL_TYPES)[number], Members>> = {
  HTTP: { required: ['headers'], optional: [] },
  'AWS-S3': { required: ['accessKeyId', 'secretAccessKey'], optional: ['sessionToken'] },
  POSTGRES: { required: ['host', 'database', 'user', 'password'], optional: ['port', 'tls'] },
};

/** @throws Failure InvalidBody naming the member and its rule. */
export function parseDefinition(body: Static<typeof SOURCE_BODY>): SourceDefinition {
  const { credentialId: _, description: __, name: ___, ...definition } = body;
  checkMembers(definition, SOURCE_MEMBERS[body.type], `a source of type ${body.type}`);
  const source = definition as unknown as SourceDefinition;
  if ('jsonPath' in source && source.jsonPath !== undefined) checkJsonPath(source.jsonPath);
  const pages = source.type === 'HTTP' ? source.pages : undefined;
  if (pages?.kind === 'cursor' && (pages.cursorPath as string | undefined) === undefined) {
    throw new Failure('InvalidBody', 'pages.cursorPath is required of pages of kind cursor');
  }
  return source;
}

export const unknownSourceFailure = (): Failure =>
  new Failure('InvalidBody', 'dataSourceId names no data source');

/** @throws Failure InvalidBody for a source that feeds its dataset continuously. */
export function refuseFeed(type: string): void {
  if (type !== 'SSE' && type !== 'WEBSOCKET' && type !== 'CAPTURE') return;
  const reason = `a source of type ${type} feeds its dataset continuously`;
  throw new Failure('InvalidBody', `${reason}: a schedule or a job can't use it`);
}

/** @throws Failure InvalidBody naming the member and its rule. */
export function parseCredential(body: Static<typeof CREDENTIAL_BODY>): Credential {
  const { description: _, name: __, ...credential } = body;
  checkMembers(credential, CREDENTIAL_MEMBERS[body.type], `a credential of type ${body.type}`);
  return credential as unknown as Credential;
}

function checkMembers(body: object, members: Members, label: string): void {
  const { oneOf = [], optional: optionalNames, required } = members;
  const names = Object.keys(body).filter((name) => name !== 'type');
  const missing = required.find((name) => !names.includes(name));
  if (missing !== undefined) throw new Failure('InvalidBody', `${missing} is required of ${label}`);
  const allowedNames = new Set([...required, ...optionalNames, ...oneOf]);
  const unknownName = names.find((name) => !allowedNames.has(name));
  if (unknownName !== undefined)
    throw new Failure('InvalidBody', `${unknownName} ${membershipRule(label)}`);
  const chosen = oneOf.filter((name) => names.includes(name));
  if (oneOf.length === 0 || chosen.length === 1) return;
  throw new Failure('InvalidBody', `${label} has exactly one of ${oneOf.join(' and ')}`);
}
