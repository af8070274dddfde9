// The body of an export: selection, format and target, as flat objects like those of sources.
import type { Static, TSchema } from 'typebox';
import { Type } from '../../../reads/request/schema.ts';
import { EXPORT_FORMATS, type PartFormat } from '../../../pipeline/targets/exportParts.ts';
import { withSlash, checkTarget } from '../../../pipeline/targets/open.ts';
import type { TargetDefinition } from '../../../pipeline/targets/target.ts';
import { Failure } from '../../../store/base/failure.ts';
import type { Settings } from '../../../store/base/settings/settings.ts';

const QUERY_MAX = 100_000;
/** Each part is sorted separately; data that does not fit in memory is spilled to disk. */
const ROWS_PER_FILE_MAX = 50_000_000;

const text = (maxLength: number): TSchema => Type.String({ minLength: 1, maxLength });

const TARGET = Type.Object(
  {
    type: Type.Enum(['FILE', 'AWS-S3']),
    path: Type.Optional(text(1_000)),
    awsbucketName: Type.Optional(text(255)),
    prefix: Type.Optional(Type.String({ maxLength: 1_000 })),
    credentialId: Type.Optional(text(100)),
    region: Type.Optional(text(100)),
    endpoint: Type.Optional(text(8_000)),
  },
  { additionalProperties: false },
);

export const EXPORT_BODY = Type.Object(
  {
    dataset: Type.Optional(Type.String({ minLength: 1, maxLength: 300 })),
    query: Type.Optional(Type.String({ minLength: 1, maxLength: QUERY_MAX })),
    format: Type.Enum([...EXPORT_FORMATS]),
    compression: Type.Optional(Type.Enum(['none', 'gzip', 'zstd'])),
    asOf: Type.Optional(Type.Union([Type.String({ maxLength: 100 }), Type.Integer()])),
    rowsPerFile: Type.Optional(Type.Integer({ minimum: 1, maximum: ROWS_PER_FILE_MAX })),
    target: TARGET,
  },
  { additionalProperties: false },
);

export type ExportBody = Static<typeof EXPORT_BODY>;

/** @throws Failure InvalidBody naming the member and its rule. */
export function parsePartFormat({ compression = 'none', format }: ExportBody): PartFormat {
  if (compression !== 'none' && format !== 'csv' && format !== 'jsonl') {
    throw new Failure('InvalidBody', `compression is of csv and jsonl: ${format} has its own`);
  }
  return { format, compression };
}

/** The dataset or the query to export. @throws Failure InvalidBody. */
export function parseSelection({ dataset, query, rowsPerFile }: ExportBody): {
  readonly dataset: string | undefined;
  readonly query: string;
} {
  if ((dataset === undefined) === (query === undefined)) {
    throw new Failure('InvalidBody', 'exactly one of dataset and query must be given');
  }
  if (query !== undefined && rowsPerFile !== undefined) {
    throw new Failure('InvalidBody', 'rowsPerFile is of a dataset: a query is written as one part');
  }
  return { dataset, query: query ?? '' };
}

const MEMBERS = {
  FILE: { required: ['path'], optional: [] },
  'AWS-S3': {
    required: ['awsbucketName', 'credentialId'],
    optional: ['prefix', 'region', 'endpoint'],
  },
} as const;

/** @throws Failure InvalidBody naming the member and its rule. */
export function parseTarget({ target }: ExportBody, settings: Settings): TargetDefinition {
  const { optional, required } = MEMBERS[target.type];
  const label = `a target of type ${target.type}`;
  const names = Object.keys(target).filter((name) => name !== 'type');
  const missing = required.find((name) => !names.includes(name));
  if (missing !== undefined) {
    throw new Failure('InvalidBody', `target.${missing} is required of ${label}`);
  }
  const allowed: readonly string[] = [...required, ...optional];
  const unknownName = names.find((name) => !allowed.includes(name));
  if (unknownName !== undefined) {
    throw new Failure('InvalidBody', `target.${unknownName} is no member of ${label}`);
  }
  const completeTarget =
    target.type === 'FILE' ? target : { ...target, prefix: target.prefix ?? '' };
  const typedTarget = completeTarget as unknown as TargetDefinition;
  const definition = typedTarget.type === 'FILE' ? typedTarget : withSlash(typedTarget);
  checkTarget(definition, settings);
  return definition;
}
