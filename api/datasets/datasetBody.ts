// Bodies that create or change a dataset, and the rules that JSON schema can't express.
import { lookupTable } from '../../store/base/lookupTable.ts';
import { COLUMN_MAPPING } from '../../reads/sql/queryBody.ts';
import type { Static } from 'typebox';
import { Type } from '../../reads/request/schema.ts';
import {
  checkPropertyNames,
  toColumnType,
  DIGITS_MAX,
  isDated,
  PROPERTIES_MAX,
  type PropertyType,
} from '../../store/lake/versions/columns.ts';
import type { IndexEdit } from '../../pipeline/edit/indexEdit.ts';
import type { FindDefaults } from '../../store/lake/datasets/defaults.ts';
import type { DatasetDraft } from '../../store/lake/datasetEdits.ts';
import {
  type Access,
  type ColumnMapping,
  type Dataset,
  isMapped,
  type RecordSchema,
  listRequired,
  type SmartLink,
  DATASET_DEFAULTS,
  isSameMapping,
} from '../../store/lake/datasets/datasets.ts';
import { TIER_NAMES } from '../../store/accounts/tiers.ts';
import { PLACEHOLDER_SOURCE } from '../../store/lake/datasets/placeholders.ts';
import { Failure } from '../../store/base/failure.ts';
import { checkExpectations, CONTRACT_MEMBERS, mergeContract } from './contractBody.ts';

const TEXT_MAX = 10_000;
const WEIGHT_MAX = 1_000_000;
const HISTORY_DAYS_MAX = 3_650;
/** One week. */
const DELAY_MINUTES_MAX = 10_080;
const text = Type.String({ maxLength: TEXT_MAX });

const SHARES_MAX = 1_000;

const SHARE = Type.Object(
  {
    accountId: Type.String({ minLength: 1, maxLength: 64 }),
    weight: Type.Optional(Type.Integer({ minimum: 0, maximum: WEIGHT_MAX })),
    tier: Type.Optional(Type.Enum([...TIER_NAMES])),
    delayMinutes: Type.Optional(Type.Integer({ minimum: 0, maximum: DELAY_MINUTES_MAX })),
  },
  { additionalProperties: false },
);

const PROPERTY = Type.Object({
  type: Type.Enum(['number', 'integer', 'string', 'boolean', 'object', 'array']),
  format: Type.Optional(
    Type.Enum(['date', 'date-time', 'date-time-ns', 'time', 'decimal', 'int128']),
  ),
  precision: Type.Optional(Type.Integer({ minimum: 1, maximum: DIGITS_MAX })),
  scale: Type.Optional(Type.Integer({ minimum: 0, maximum: DIGITS_MAX })),
});

const MEMBERS = {
  title: Type.Optional(text),
  description: Type.Optional(text),
  source: Type.Optional(text),
  license: Type.Optional(text),
  weight: Type.Optional(Type.Integer({ minimum: 0, maximum: WEIGHT_MAX })),
  historyDays: Type.Optional(
    Type.Union([Type.Integer({ minimum: 0, maximum: HISTORY_DAYS_MAX }), Type.Null()]),
  ),
  access: Type.Optional(
    Type.Object(
      {
        level: Type.Enum(['open', 'premium', 'restricted', 'enterprise']),
        tier: Type.Optional(Type.Enum([...TIER_NAMES])),
        sqlPrice: Type.Optional(Type.Enum(['records', 'answer'])),
        delayMinutes: Type.Optional(Type.Integer({ minimum: 0, maximum: DELAY_MINUTES_MAX })),
        accounts: Type.Optional(Type.Array(SHARE, { maxItems: SHARES_MAX })),
      },
      { additionalProperties: false },
    ),
  ),
  smartLinkAttributes: Type.Optional(
    Type.Array(
      Type.Object({
        attributeName: Type.String({ maxLength: 128 }),
        type: Type.String({ maxLength: 64 }),
      }),
      { maxItems: 20 },
    ),
  ),
  ...CONTRACT_MEMBERS,
};

const SCHEMA = Type.Object({
  type: Type.Optional(Type.Literal('object')),
  properties: Type.Record(Type.String(), PROPERTY, { maxProperties: PROPERTIES_MAX }),
  required: Type.Optional(Type.Array(Type.String())),
});

/** Treatment of stored records when the schema changes. */
const EXISTING = Type.Enum(['leave', 'update', 'delete', 're-ingest']);

/** The properties of the index. */
/** Body of a creation (INTERFACE.md 3.3); the id may be in the path instead. */
export const CREATE_DATASET = Type.Object({
  dataset: Type.Object({
    datasetId: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    ...MEMBERS,
    schema: SCHEMA,
    existing: Type.Optional(EXISTING),
    columnMapping: Type.Optional(COLUMN_MAPPING),
    uniqueIndex: Type.Optional(Type.Boolean()),
  }),
});

const CHANGED_SCHEMA = Type.Object({
  ...SCHEMA.properties,
  properties: Type.Record(Type.String(), Type.Union([PROPERTY, Type.Null()]), {
    maxProperties: PROPERTIES_MAX,
  }),
});

const CHANGES = {
  ...MEMBERS,
  schema: Type.Optional(CHANGED_SCHEMA),
  existing: Type.Optional(EXISTING),
  columnMapping: Type.Optional(COLUMN_MAPPING),
  uniqueIndex: Type.Optional(Type.Boolean()),
  duplicateKeyHandling: Type.Optional(Type.Enum(['ignore', 'replace'])),
};

/** Body of a change: its members under `dataset`, or at the top level. */
export const CHANGE_DATASET = Type.Object({
  dataset: Type.Optional(Type.Object(CHANGES)),
  ...CHANGES,
});

type Properties = Readonly<Record<string, PropertyType>>;

/** Builds a new dataset from a body. @throws Failure InvalidBody naming the member and its rule. */
export function buildDraft(
  workspace: string,
  id: string | undefined,
  { dataset }: Static<typeof CREATE_DATASET>,
  defaultsOf: FindDefaults,
): DatasetDraft {
  const { schema } = dataset;
  const datasetId = id ?? dataset.datasetId;
  if (datasetId === undefined) throw new Failure('InvalidBody', 'dataset.datasetId is required');
  const {
    mapping,
    title = DATASET_DEFAULTS.title,
    weight = DATASET_DEFAULTS.weight,
  } = defaultsOf({ workspace, dataset: datasetId }) ?? {};
  const defaultMapping = dataset.uniqueIndex === undefined ? mapping : undefined;
  const linkMapping = linkedMapping(dataset);
  const columnMapping = dataset.columnMapping ?? defaultMapping ?? linkMapping ?? {};
  const properties = schema.properties as Properties;
  checkPropertyNames('schema.properties', Object.keys(properties));
  checkPropertyTypes(properties);
  checkMapping(properties, columnMapping);
  checkSmartLinks(dataset.smartLinkAttributes ?? [], Object.keys(properties));
  const metadata = mergeDescription(dataset, { ...DATASET_DEFAULTS, title, weight });
  checkExpectations(metadata.expectations, { properties, mapping: columnMapping });
  // One security has many records: its property as the only key must not make them replace each other.
  const unique =
    columnMapping === linkMapping ? (dataset.uniqueIndex ?? false) : dataset.uniqueIndex;
  const numbered = isNumbered(columnMapping, unique, false);
  const index = { mapping: columnMapping, numbered, inferred: false };
  return {
    workspace,
    dataset: datasetId,
    ...metadata,
    schema: { type: 'object', properties, required: listRequired(index) },
    ...index,
  };
}

/**
 * The index of a dataset that declares none: the property that identifies a security is the key, and its
 * only date is the date.
 */
function linkedMapping({
  schema,
  smartLinkAttributes: [link] = [],
}: Static<typeof CREATE_DATASET>['dataset']): ColumnMapping | undefined {
  if (link === undefined) return undefined;
  const dates = Object.entries(schema.properties as Properties)
    .filter(([, { format }]) => format === 'date' || format === 'date-time')
    .map(([name]) => name);
  const [date, ...others] = dates;
  const key = link.attributeName;
  return date === undefined || others.length > 0 ? { key } : { key, date };
}

/** Whether records are numbered instead of unique by index. @throws Failure InvalidBody */
function isNumbered(mapping: ColumnMapping, unique: boolean | undefined, before: boolean): boolean {
  if (unique === true && !isMapped(mapping)) {
    throw new Failure('InvalidBody', 'uniqueIndex needs a columnMapping with key or date');
  }
  return !(unique ?? (isMapped(mapping) && !before));
}

type Metadata = Pick<
  DatasetDraft,
  | 'title'
  | 'description'
  | 'source'
  | 'license'
  | 'weight'
  | 'access'
  | 'smartLinks'
  | 'historyDays'
  | 'contract'
  | 'expectations'
>;

/**
 * Merges a body's members other than the schema; members that it leaves out keep their values.
 * @throws Failure InvalidBody for the source name of placeholder records.
 */
export function mergeDescription(
  body: Omit<Static<typeof CHANGE_DATASET>, 'dataset' | 'existing' | 'schema'>,
  previous: Metadata,
): Metadata {
  if (body.source === PLACEHOLDER_SOURCE && previous.source !== PLACEHOLDER_SOURCE) {
    const rule = 'such records are replaced by the next load';
    throw new Failure('InvalidBody', `source must not be ${PLACEHOLDER_SOURCE}: ${rule}`);
  }
  return mergeMetadata(body, previous);
}

const mergeMetadata = (
  body: Parameters<typeof mergeDescription>[0],
  previous: Metadata,
): Metadata => ({
  title: body.title ?? previous.title,
  description: body.description ?? previous.description,
  source: body.source ?? previous.source,
  license: body.license ?? previous.license,
  weight: body.weight ?? previous.weight,
  access: (body.access as Access | undefined) ?? previous.access,
  smartLinks: body.smartLinkAttributes ?? previous.smartLinks,
  // null resets it.
  historyDays: body.historyDays === undefined ? previous.historyDays : body.historyDays,
  ...mergeContract(body, previous),
});

/** @throws Failure InvalidBody naming the attribute. */
export function checkSmartLinks(smartLinks: readonly SmartLink[], names: readonly string[]): void {
  const unknown = smartLinks.find(({ attributeName }) => !names.includes(attributeName));
  if (unknown === undefined) return;
  const message = `smartLinkAttributes: ${unknown.attributeName} is not a property`;
  throw new Failure('InvalidBody', message);
}

/** The changes of a body to the properties of a dataset. */
interface PropertyEdit {
  readonly schema: RecordSchema;
  readonly added: Properties;
  readonly retyped: Properties;
  readonly removed: readonly string[];
}

/**
 * A property that the body does not name is kept; one that is null is removed.
 * @throws Failure InvalidBody naming the property.
 */
export function planPropertyEdit(
  { mapping, schema }: Dataset,
  changes: Readonly<Record<string, PropertyType | null>>,
): PropertyEdit {
  const added: Record<string, PropertyType> = {};
  const retyped: Record<string, PropertyType> = {};
  const removed: string[] = [];
  const indexed = new Set(Object.values(mapping));
  for (const [name, property] of Object.entries(changes)) {
    const current = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
    if (isSameType(current, property)) {
      if (current === undefined) throw unknownProperty(name);
      continue;
    }
    if (current === undefined && property === null) throw unknownProperty(name);
    if (indexed.has(name)) {
      const rule = property === null ? 'it can not go' : 'it can not change its type';
      throw new Failure('InvalidBody', `schema.properties.${name} is indexed: ${rule}`);
    }
    if (property === null) removed.push(name);
    else if (current === undefined) added[name] = property;
    else retyped[name] = property;
  }
  const all = Object.entries({ ...schema.properties, ...retyped, ...added });
  const properties = Object.fromEntries(all.filter(([name]) => !removed.includes(name)));
  checkPropertyNames('schema.properties', Object.keys(properties));
  checkPropertyTypes({ ...added, ...retyped });
  return { schema: { ...schema, properties }, added, retyped, removed };
}

const isSameType = (one: PropertyType | undefined, other: PropertyType | null): boolean =>
  one?.type === other?.type &&
  one?.format === other?.format &&
  one?.precision === other?.precision &&
  one?.scale === other?.scale;

/** Formats that require a type. */
const FORMAT_TYPES = lookupTable<PropertyType['type']>({
  decimal: 'number',
  int128: 'integer',
  'date-time-ns': 'string',
});

/** @throws Failure InvalidBody naming the property, the fault of its type, and the fix. */
function checkPropertyTypes(properties: Properties): void {
  for (const [name, { format, precision, scale, type }] of Object.entries(properties)) {
    const at = `schema.properties.${name}`;
    const requiredType = format === undefined ? undefined : FORMAT_TYPES[format];
    if (requiredType !== undefined && type !== requiredType) {
      const rule = `has format ${format} and type ${type}: use type ${requiredType}`;
      throw new Failure('InvalidBody', `${at} ${rule}`);
    }
    if (format !== 'decimal') {
      if (precision === undefined && scale === undefined) continue;
      const rule = 'has precision or scale without format decimal: add the format or remove them';
      throw new Failure('InvalidBody', `${at} ${rule}`);
    }
    if (precision === undefined || scale === undefined) {
      const rule = `needs precision (1 to ${DIGITS_MAX}) and scale (0 to precision)`;
      throw new Failure('InvalidBody', `${at} is a decimal and ${rule}`);
    }
    if (scale > precision) {
      const rule = `has scale ${scale}, more than its precision ${precision}: use at most ${precision}`;
      throw new Failure('InvalidBody', `${at} ${rule}`);
    }
  }
}

const unknownProperty = (name: string): Failure =>
  new Failure('InvalidBody', `schema.properties.${name} is null, and no property`);

/** The change of a body to the index of a dataset; undefined without a change. @throws as `buildDraft`. */
export function planIndexEdit(
  {
    columnMapping,
    duplicateKeyHandling,
    uniqueIndex,
  }: Omit<Static<typeof CHANGE_DATASET>, 'dataset'>,
  { inferred, mapping: previousMapping, numbered: wasNumbered, schema }: Dataset,
): IndexEdit | undefined {
  if (columnMapping === undefined && uniqueIndex === undefined) {
    if (duplicateKeyHandling === undefined) return undefined;
    const rule = 'duplicateKeyHandling needs columnMapping or uniqueIndex';
    throw new Failure('InvalidBody', rule);
  }
  const mapping = columnMapping ?? previousMapping;
  checkMapping(schema.properties, mapping);
  const hasSameParts = isSameMapping(mapping, previousMapping);
  // Another mapping declares a unique index. The same one declares nothing: clients return what they read.
  const numbered = isNumbered(mapping, uniqueIndex, wasNumbered && (!inferred || hasSameParts));
  const isConfirmed = inferred && uniqueIndex === !numbered && !numbered;
  const isUnchanged = hasSameParts && numbered === wasNumbered && !isConfirmed;
  return isUnchanged
    ? undefined
    : { mapping, numbered, inferred: false, duplicates: duplicateKeyHandling };
}

/** Whether an edit declares the unique index that an earlier version inferred. */
export const isConfirmation = (dataset: Dataset, index: IndexEdit): boolean =>
  dataset.inferred &&
  dataset.numbered === index.numbered &&
  isSameMapping(dataset.mapping, index.mapping);

function checkMapping(properties: Properties, mapping: ColumnMapping): void {
  for (const [part, name] of Object.entries(mapping)) {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const at = `columnMapping.${part}`;
    if (property === undefined) throw new Failure('InvalidBody', `${at} is not a property`);
    if (toColumnType(property) === 'json') {
      throw new Failure('InvalidBody', `${at} must be a scalar property`);
    }
    if (part === 'date' && !isDated(property)) {
      throw new Failure('InvalidBody', `${at} must have format date, date-time or date-time-ns`);
    }
  }
  const names = Object.values(mapping);
  if (new Set(names).size < names.length) {
    throw new Failure('InvalidBody', 'columnMapping must not name one property twice');
  }
  if (mapping.subkey !== undefined && mapping.key === undefined) {
    throw new Failure('InvalidBody', 'columnMapping.subkey needs a key');
  }
}
