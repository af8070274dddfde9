// The body that creates or changes a file type.
import type { Static } from 'typebox';
import { Type } from '../../../reads/request/schema.ts';
import { TIER_NAMES } from '../../../store/accounts/tiers.ts';
import { Failure } from '../../../store/base/failure.ts';
import type { FileTypeSettings } from '../../../store/publications/fileTypes.ts';

const WEIGHT_MAX = 1_000_000;
/** Tags of a type, and its categories. */
const WORDS_MAX = 100;

const text = (maxLength: number) => Type.Optional(Type.String({ maxLength }));
const words = Type.Optional(
  Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { maxItems: WORDS_MAX }),
);

export const FILE_TYPE_BODY = Type.Object(
  {
    title: text(200),
    source: text(500),
    weight: Type.Optional(Type.Integer({ minimum: 0, maximum: WEIGHT_MAX })),
    bySymbol: Type.Optional(Type.Boolean()),
    byDate: Type.Optional(Type.Boolean()),
    contentType: text(100),
    extension: text(16),
    tags: words,
    categories: words,
    access: Type.Optional(
      Type.Object(
        {
          level: Type.Enum(['open', 'premium', 'restricted', 'enterprise']),
          tier: Type.Optional(Type.Enum([...TIER_NAMES])),
        },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
);

const MEDIA_TYPE = /^[a-z\d][\w.+-]*\/[a-z\d][\w.+-]*(; ?charset=[\w-]+)?$/i;
const EXTENSION = /^[a-z\d]+(\.[a-z\d]+)*$/i;

/** Media types by extension, for bodies without `contentType`. */
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  csv: 'text/csv; charset=utf-8',
  json: 'application/json; charset=utf-8',
  jsonl: 'application/x-ndjson; charset=utf-8',
  parquet: 'application/vnd.apache.parquet',
  txt: 'text/plain; charset=utf-8',
  zip: 'application/zip',
  gz: 'application/gzip',
  pdf: 'application/pdf',
};

/** @throws Failure InvalidBody naming the member and its rule. */
export function parseFileType(body: Static<typeof FILE_TYPE_BODY>): Partial<FileTypeSettings> {
  const { contentType, extension } = body;
  if (contentType !== undefined && !MEDIA_TYPE.test(contentType)) {
    throw new Failure('InvalidBody', 'contentType must be a media type, such as text/csv');
  }
  if (extension !== undefined && !EXTENSION.test(extension)) {
    const rule = 'must be letters and digits, such as csv or csv.gz, without the first dot';
    throw new Failure('InvalidBody', `extension ${rule}`);
  }
  const mediaType = MEDIA_TYPES[(extension ?? '').toLowerCase().split('.').at(-1) ?? ''];
  const implied =
    contentType === undefined && mediaType !== undefined ? { contentType: mediaType } : {};
  return { ...body, ...implied };
}
