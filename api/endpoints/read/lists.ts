// What there is to read: dataset schemas over all workspaces or one, metadata down to a key.
import { Type } from 'typebox';
import { Failure } from '../../../store/base/failure.ts';
import {
  callerOf,
  datasetOf,
  managerOf,
  readableDatasets,
  workspaceOf,
} from '../../auth/access.ts';
import { askingView, datasetView, keyView, schemaView } from '../../datasets/datasetView.ts';
import type { Endpoint } from '../../request/endpoint.ts';
import { numberOf, truthOf } from '../../request/parameters.ts';

const ANY = Type.Object({}, { additionalProperties: true });
const LIST_MAX = 5_000;

export const listData: Endpoint = {
  id: 'listData',
  method: 'GET',
  path: '/data/:workspace?',
  token: 'publishable',
  inTest: true,
  summary: 'The schemas of the datasets of one workspace, or of all that the token reaches.',
  weight: 'free',
  parameters: [],
  answer: Type.Array(ANY),
  failures: 'data',
  handle: async (call, { lake }) => {
    const datasets = readableDatasets(callerOf(call.caller), lake, call.path['workspace']);
    const view = call.environment === 'test' ? askingView : schemaView;
    return { kind: 'json', value: datasets.map(view), metering: 'free' };
  },
};

export const getMeta: Endpoint = {
  id: 'getMeta',
  method: 'GET',
  path: '/meta/:workspace?/:id?/:key?/:subkey?',
  token: 'secret',
  summary:
    'Metadata of workspaces, of the datasets of one (`*`: all), of a dataset, or of one of its keys.',
  weight: 'free',
  parameters: [
    { kind: 'boolean', name: 'schema', help: 'With the schema of each dataset.' },
    { kind: 'boolean', name: 'force', help: 'Accepted; metadata are always fresh.' },
    { kind: 'integer', name: 'limit', least: 1, most: LIST_MAX, help: 'At most n entries.' },
    { kind: 'integer', name: 'offset', least: 0, most: LIST_MAX, help: 'Skip the first n.' },
  ],
  answer: Type.Union([Type.Array(ANY), ANY]),
  failures: 'workspace',
  handle: async (call, services) => {
    const { lake } = services;
    const caller = callerOf(call.caller);
    const { workspace, id } = call.path;
    const offset = numberOf(call.query, 'offset') ?? 0;
    const end = offset + (numberOf(call.query, 'limit') ?? LIST_MAX);
    const view = async (name: string, dataset: string): Promise<object> => {
      const whole = await datasetView(datasetOf(caller, name, dataset, lake), services);
      if (truthOf(call.query, 'schema')) return whole;
      return Object.fromEntries(Object.entries(whole).filter(([member]) => member !== 'schema'));
    };
    if (workspace === undefined) {
      managerOf(caller);
      const value = lake.directory.workspaces(caller.accountId).map((item) => ({
        workspace: item.workspace,
        datasets: lake.directory.datasets(item.workspace).length,
      }));
      return { kind: 'json', value: value.slice(offset, end), metering: 'free' };
    }
    const owned = workspaceOf(caller, workspace, lake).workspace;
    const { key, subkey } = call.path;
    if (id !== undefined && id !== '*' && key !== undefined) {
      const dataset = datasetOf(caller, owned, id, lake);
      return {
        kind: 'json',
        value: await keyView(dataset, key, subkey, services),
        metering: 'free',
      };
    }
    if (id !== undefined && id !== '*') {
      return { kind: 'json', value: await view(owned, id), metering: 'free' };
    }
    const listed = lake.directory.datasets(owned).slice(offset, end);
    await lake.expectTables(listed.map(({ tableId }) => tableId));
    const value = await Promise.all(listed.map(({ dataset }) => view(owned, dataset)));
    return { kind: 'json', value, metering: 'free' };
  },
};

/** The original's index calls (2022): here every attribute can be asked, so they only inform. */
export const getIndex: Endpoint = {
  id: 'getIndex',
  method: 'GET',
  path: '/index/:workspace/:id/:attribute',
  token: 'secret',
  inTest: true,
  summary: 'Whether an attribute is part of the unique index; every attribute can be queried.',
  weight: 'free',
  parameters: [],
  answer: Type.Object({
    success: Type.Literal(true),
    attribute: Type.String(),
    indexed: Type.Boolean(),
    message: Type.String(),
  }),
  failures: 'workspace',
  handle: async (call, { lake }) => {
    const { workspace = '', id = '', attribute = '' } = call.path;
    const dataset = datasetOf(callerOf(call.caller), workspace, id, lake);
    if (!Object.hasOwn(dataset.schema.properties, attribute)) {
      throw new Failure('InvalidBody', `attribute ${attribute} is not a property of ${id}`);
    }
    const indexed = Object.values(dataset.mapping).includes(attribute);
    const message = indexed
      ? 'the attribute is part of the unique index'
      : 'the attribute is found by a scan; no index needs to be made';
    return {
      kind: 'json',
      value: { success: true, attribute, indexed, message },
      metering: 'free',
    };
  },
};

export const createIndex: Endpoint = { ...getIndex, id: 'createIndex', method: 'POST' };
export const deleteIndex: Endpoint = { ...getIndex, id: 'deleteIndex', method: 'DELETE' };
