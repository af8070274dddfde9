// Builds an OpenAPI 3.1 document of the views and published queries of a workspace.
import type { RecordSchema } from '../../store/lake/datasets/datasets.ts';
import type { PublishedQuery, QueryParameter, View } from '../../store/lake/datasets/views.ts';
import { VERSION } from '../../store/base/version.ts';

type Json = Readonly<Record<string, unknown>>;

export function buildQueriesDocument(
  workspace: string,
  views: readonly View[],
  endpoints: readonly PublishedQuery[],
): Json {
  const paths = [
    ...views.map((view) => [`/data/${workspace}/${view.name}`, { get: viewOperation(view) }]),
    ...endpoints.map((query) => [
      `/endpoints/${workspace}/${query.name}`,
      { get: operation(query) },
    ]),
  ];
  return {
    openapi: '3.1.0',
    info: { title: workspace, version: VERSION, description: `Queries of workspace ${workspace}.` },
    servers: [{ url: '/v1' }],
    paths: Object.fromEntries(paths) as Json,
    components: {
      securitySchemes: { token: { type: 'apiKey', in: 'query', name: 'token' } },
    },
  };
}

const baseOperation = ({ description, name, title }: View | PublishedQuery): Json => ({
  operationId: name,
  summary: title === '' ? name : title,
  ...(description === '' ? {} : { description }),
  security: [{ token: [] }],
});

const viewOperation = (view: View): Json => ({
  ...baseOperation(view),
  responses: responses(view.schema),
});

const operation = (query: PublishedQuery): Json => ({
  ...baseOperation(query),
  parameters: query.parameters.map(toParameter),
  responses: responses(undefined),
});

const responses = (schema: RecordSchema | undefined): Json => ({
  '200': {
    description: 'Rows.',
    content: {
      'application/json': {
        schema: { type: 'array', items: schema ?? { type: 'object' } },
      },
    },
  },
  default: { description: 'An error message.' },
});

const toParameter = ({ default: fallback, description, name, type }: QueryParameter): Json => ({
  name,
  in: 'query',
  required: fallback === undefined,
  ...(description === undefined ? {} : { description }),
  schema: {
    ...(type === 'date' ? { type: 'string', format: 'date' } : { type }),
    ...(fallback === undefined || fallback === null ? {} : { default: fallback }),
  },
});
