// Creating a dataset (INTERFACE.md 3.3).
import { type Static, Type } from 'typebox';
import { checkName, columnTypeOf, PROPERTIES_MAX, type PropertyType } from '../../store/columns.ts';
import type { ColumnMapping } from '../../store/datasets.ts';
import { Failure } from '../../store/failure.ts';
import { createDataset as makeDataset, type DatasetDraft } from '../../store/datasetEdits.ts';
import { callerOf, workspaceOf } from '../access.ts';
import type { Endpoint } from '../endpoint.ts';

const TEXT_MAX = 10_000;
const WEIGHT_MAX = 1_000_000;
const text = Type.String({ maxLength: TEXT_MAX });

const PROPERTY = Type.Object({
  type: Type.Enum(['number', 'integer', 'string', 'boolean', 'object', 'array']),
  format: Type.Optional(Type.Enum(['date', 'date-time'])),
});

const CREATE = Type.Object({
  dataset: Type.Object({
    datasetId: Type.String({ minLength: 1, maxLength: 128 }),
    title: Type.Optional(text),
    description: Type.Optional(text),
    source: Type.Optional(text),
    weight: Type.Optional(Type.Integer({ minimum: 0, maximum: WEIGHT_MAX })),
    schema: Type.Object({
      type: Type.Literal('object'),
      properties: Type.Record(Type.String(), PROPERTY, { maxProperties: PROPERTIES_MAX }),
      required: Type.Optional(Type.Array(Type.String())),
    }),
    columnMapping: Type.Optional(
      Type.Object({
        key: Type.Optional(Type.String()),
        subkey: Type.Optional(Type.String()),
        date: Type.Optional(Type.String()),
      }),
    ),
  }),
});

export const createDataset: Endpoint = {
  id: 'createDataset',
  method: 'POST',
  path: '/datasets/:workspace',
  token: 'secret',
  summary: 'Creates a dataset from its schema; indexed properties are required.',
  weight: 'free',
  parameters: [],
  body: { kind: 'json', schema: CREATE },
  answer: Type.Object({
    success: Type.Literal(true),
    message: Type.String(),
    datasetId: Type.String(),
  }),
  failures: 'workspace',
  handle: async (call, { lake }) => {
    const caller = callerOf(call.caller);
    const { workspace } = workspaceOf(caller, call.path['workspace'] ?? '', lake);
    const { dataset } = call.json as Static<typeof CREATE>;
    const kept = lake.catalogue.datasets(workspace).length;
    if (kept >= caller.tier.datasetsMax) {
      const most = `${caller.tier.datasetsMax} datasets, the maximum of tier ${caller.tier.name}`;
      throw new Failure('InvalidBody', `the workspace holds ${most}`);
    }
    const created = await makeDataset(lake, draftOf(workspace, dataset), caller.accountId);
    const message = 'Dataset has been created';
    const value = { success: true, message, datasetId: created.dataset };
    return { kind: 'json', value, metering: 'free' };
  },
};

function draftOf(workspace: string, dataset: Static<typeof CREATE>['dataset']): DatasetDraft {
  const { columnMapping = {}, schema } = dataset;
  const properties = schema.properties as Readonly<Record<string, PropertyType>>;
  checkProperties(properties);
  checkMapping(properties, columnMapping);
  const indexed = Object.values(columnMapping);
  return {
    workspace,
    dataset: dataset.datasetId,
    title: dataset.title ?? '',
    description: dataset.description ?? '',
    source: dataset.source ?? '',
    weight: dataset.weight ?? 1,
    schema: { type: 'object', properties, required: [...new Set(indexed)] },
    mapping: columnMapping,
  };
}

function checkProperties(properties: Readonly<Record<string, PropertyType>>): void {
  const names = Object.keys(properties);
  if (names.length === 0) throw new Failure('InvalidBody', 'schema.properties must not be empty');
  const seen = new Set<string>();
  for (const name of names) {
    checkName('a property name', name);
    if (seen.has(name.toLowerCase())) {
      throw new Failure('InvalidBody', `schema.properties has ${name} twice, in different case`);
    }
    seen.add(name.toLowerCase());
  }
}

function checkMapping(
  properties: Readonly<Record<string, PropertyType>>,
  mapping: ColumnMapping,
): void {
  for (const [part, name] of Object.entries(mapping)) {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const at = `columnMapping.${part}`;
    if (property === undefined) throw new Failure('InvalidBody', `${at} is not a property`);
    if (columnTypeOf(property) === 'json') {
      throw new Failure('InvalidBody', `${at} must be a scalar property`);
    }
    if (part === 'date' && property.format === undefined) {
      throw new Failure('InvalidBody', `${at} must have format date or date-time`);
    }
  }
  const names = Object.values(mapping);
  if (new Set(names).size < names.length) {
    throw new Failure('InvalidBody', 'columnMapping must not name one property twice');
  }
  if (mapping.subkey !== undefined && mapping.key === undefined) {
    throw new Failure('InvalidBody', 'columnMapping.subkey must not stand without a key');
  }
}
