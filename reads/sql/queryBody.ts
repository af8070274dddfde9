// Checks the bodies of views and published queries, and builds their stored form.
import type { Static } from 'typebox';
import { matching, Type } from '../request/schema.ts';
import { describeSql } from '../../query/sql/run/run.ts';
import type { ParameterValue, ParameterValues } from '../../query/sql/text/spelling.ts';
import { inheritedMapping, type Parent, schemaOf } from '../../query/sql/run/viewSeries.ts';
import { type BoundTable, datasetsOf } from '../../query/sql/plan/boundTable.ts';
import type { ColumnMapping, RecordSchema } from '../../store/lake/datasets/datasets.ts';
import { Failure } from '../../store/base/failure.ts';
import type {
  NamedTable,
  QueryBody,
  QueryParameter,
  View,
} from '../../store/lake/datasets/views.ts';
import { TIER_NAMES } from '../../store/accounts/tiers.ts';
import type { ReadRequest } from '../request/readRequest.ts';
import type { ReadServices } from '../request/readServices.ts';
import { isInformation, NO_STORED_INFORMATION } from './informationSchema.ts';
import { bindQuery, buildLimits } from './sql.ts';
import { RESERVED_NAMES } from './sqlParameters.ts';

/** Columns of the index, by their part. */
export const COLUMN_MAPPING = Type.Object(
  {
    key: Type.Optional(Type.String()),
    subkey: Type.Optional(Type.String()),
    date: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
);

type QueryBodyServices = Pick<
  ReadServices,
  | 'clock'
  | 'database'
  | 'failedTime'
  | 'lake'
  | 'ledger'
  | 'pending'
  | 'queries'
  | 'settings'
  | 'sql'
>;

const TEXT_MAX = 10_000;
const QUERY_MAX = 100_000;
const WEIGHT_MAX = 1_000_000;
const PARAMETERS_MAX = 50;
const NAME_RULE = 'a letter or _, then up to 63 letters, digits or _';

const COMMON_MEMBERS = {
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
  title: Type.Optional(Type.String({ maxLength: TEXT_MAX })),
  description: Type.Optional(Type.String({ maxLength: TEXT_MAX })),
  query: Type.String({ minLength: 1, maxLength: QUERY_MAX }),
};

export const VIEW_BODY = Type.Object({
  view: Type.Object(
    {
      ...COMMON_MEMBERS,
      columnMapping: Type.Optional(COLUMN_MAPPING),
    },
    { additionalProperties: false },
  ),
});

const PARAMETER = Type.Object(
  {
    name: Type.String({ ...matching(/^[A-Za-z_][A-Za-z0-9_]{0,63}$/u, NAME_RULE) }),
    type: Type.Enum(['string', 'number', 'integer', 'boolean', 'date']),
    description: Type.Optional(Type.String({ maxLength: TEXT_MAX })),
    default: Type.Optional(
      Type.Union([
        Type.String({ maxLength: TEXT_MAX }),
        Type.Number(),
        Type.Boolean(),
        Type.Null(),
      ]),
    ),
  },
  { additionalProperties: false },
);

export const ENDPOINT_BODY = Type.Object({
  endpoint: Type.Object(
    {
      ...COMMON_MEMBERS,
      parameters: Type.Optional(Type.Array(PARAMETER, { maxItems: PARAMETERS_MAX })),
      weight: Type.Optional(Type.Integer({ minimum: 0, maximum: WEIGHT_MAX })),
      tier: Type.Optional(Type.Enum([...TIER_NAMES])),
    },
    { additionalProperties: false },
  ),
});

/** Builds the stored form of a view. @throws Failure InvalidParameter for a query that can not be run. */
export async function viewBody(
  call: ReadRequest,
  services: QueryBodyServices,
  workspace: string,
): Promise<Extract<QueryBody, { kind: 'view' }>> {
  const { view } = call.json as Static<typeof VIEW_BODY>;
  const { columns, tables, plan } = await describeQuery(call, services, workspace, view.query, {});
  const schema = schemaOf(columns);
  const inherited = inheritedMapping(plan.query, (index) => findParent(tables[index]));
  const mapping = { ...inherited.mapping, ...view.columnMapping };
  checkMapping(mapping, schema);
  return {
    kind: 'view',
    title: view.title ?? '',
    description: view.description ?? '',
    query: view.query,
    tables: tables.map(toNamedTable),
    parent: inherited.parent,
    schema,
    mapping,
  };
}

/** Builds the stored form of a published query. @throws Failure InvalidParameter as `viewBody`. */
export async function endpointBody(
  call: ReadRequest,
  services: QueryBodyServices,
  workspace: string,
): Promise<Extract<QueryBody, { kind: 'endpoint' }>> {
  const { endpoint } = call.json as Static<typeof ENDPOINT_BODY>;
  const { parameters = [], tier, weight } = endpoint;
  const names = new Set(parameters.map(({ name }) => name));
  if (names.size < parameters.length) {
    throw new Failure('InvalidBody', 'parameters has a name twice');
  }
  const reserved = parameters.find(({ name }) => RESERVED_NAMES.has(name));
  if (reserved !== undefined) {
    throw new Failure('InvalidBody', `a parameter may not be called ${reserved.name}`);
  }
  const samples = Object.fromEntries(parameters.map((item) => [item.name, sampleValue(item)]));
  const { tables } = await describeQuery(call, services, workspace, endpoint.query, samples);
  return {
    kind: 'endpoint',
    title: endpoint.title ?? '',
    description: endpoint.description ?? '',
    query: endpoint.query,
    tables: tables.map(toNamedTable),
    parameters,
    ...(weight === undefined ? {} : { weight }),
    ...(tier === undefined ? {} : { tier }),
  };
}

/** Describes the columns of a query, without a read: a query is stored only if it can be run now. */
async function describeQuery(
  call: ReadRequest,
  services: QueryBodyServices,
  workspace: string,
  text: string,
  parameters: ParameterValues,
) {
  const { failedTime, settings, sql } = services;
  failedTime.check(call.caller);
  const bound = await bindQuery(call, services, { workspace, text, parameters });
  if (datasetsOf(bound.tables).some(({ dataset }) => isInformation(dataset))) {
    throw new Failure('InvalidBody', NO_STORED_INFORMATION);
  }
  const limits = buildLimits(call.caller, settings);
  const columns = await describeSql(bound, sql, limits, call);
  return { columns, tables: bound.tables, plan: bound.plan };
}

const toNamedTable = (table: BoundTable): NamedTable =>
  table.kind === 'view' ? { viewId: table.view.id } : { tableId: table.dataset.tableId };

function findParent(table: BoundTable | undefined): Parent | undefined {
  if (table === undefined) return undefined;
  if (table.kind === 'view') return { id: table.view.name, mapping: table.view.mapping };
  return { id: table.dataset.dataset, mapping: table.dataset.mapping };
}

function checkMapping(mapping: ColumnMapping, { properties }: RecordSchema): void {
  for (const [part, name] of Object.entries(mapping)) {
    if (Object.hasOwn(properties, name)) continue;
    throw new Failure(
      'InvalidBody',
      `columnMapping.${part} names ${name}, which is not a column of the query`,
    );
  }
}

/** A sample value of the parameter's type, to check whether the query can be run. */
function sampleValue({ default: fallback, type }: QueryParameter): ParameterValue {
  if (fallback !== undefined) return fallback;
  if (type === 'boolean') return true;
  if (type === 'date') return '2024-01-02';
  return type === 'string' ? '' : 1;
}

/** Members of a view that its owner sees besides those of a dataset. */
export const viewMembers = ({ parent, query }: View): object => ({
  parentDatasetId: parent,
  query,
});
