// Builds the market's own OpenAPI document: one operation for each type, with the exact shape of its answer.
// The document of all endpoints has one operation for many types and describes their answers only as objects
// or lists.
import { Type } from '../../../reads/request/schema.ts';
import type { Shape } from '../../../market/types/shape.ts';
import { createFindShape, typeShapes } from '../../../market/types/shapes.ts';
import { type DescribedEndpoint, buildOpenApi } from '../../introspection/openapi/openapi.ts';
import type { AnyEndpoint } from '../../request/endpoint.ts';
import { otherRows } from './otherRows.ts';
import type { TypeRow } from './typeRow.ts';
import { documentTypes } from './typeRows.ts';

const ABOUT = {
  title: 'Tapedeck: the market',
  description:
    'Answers of the market as JSON and without `filter`, each type by its own path. ' +
    'Further attributes may be added.',
  externalDocs: {
    url: '/v1/openapi-doc',
    description: 'All endpoints with all of their parameters and formats.',
  },
};

/** @param table of all endpoints */
export async function marketDocument(
  table: readonly AnyEndpoint[],
  brand: string,
): Promise<object> {
  const shapes = await typeShapes();
  const types = documentTypes(shapes);
  const rows = [
    ...types.flatMap((type) => type.rows),
    ...otherRows(types, createFindShape(shapes)),
  ];
  const exact = table.flatMap((endpoint) => describeExact(endpoint));
  const exactPaths = new Set(exact.map(({ path }) => path));
  const described = rows
    .filter(({ path }) => !exactPaths.has(path))
    .map((row) => describeRow(row, table));
  return buildOpenApi([...described, ...exact], brand, ABOUT);
}

/** Parameters that change the shape of an answer. */
const SHAPING: ReadonlySet<string> = new Set(['filter', 'format', 'callback', 'estimate']);

const withoutShaping = ({ parameters }: AnyEndpoint): AnyEndpoint['parameters'] =>
  parameters.filter(({ name }) => !SHAPING.has(name));

const toAnswer = (shape: Shape): DescribedEndpoint['answer'] => Type.Unsafe(shape);

/** Describes an endpoint of the table that declares its own shape. */
function describeExact({
  events: _,
  formats: _formats,
  shape,
  ...row
}: AnyEndpoint): readonly DescribedEndpoint[] {
  if (shape === undefined) return [];
  return [{ ...row, parameters: withoutShaping(row), answer: toAnswer(shape) }];
}

function describeRow(
  { operationName, endpointId, parameters, path, segments, shape, summary, weight }: TypeRow,
  table: readonly AnyEndpoint[],
): DescribedEndpoint {
  const endpoint = table.find(({ id }) => id === endpointId);
  if (endpoint === undefined) throw new Error(`there is no endpoint ${endpointId}`);
  const all = withoutShaping(endpoint);
  const selectedParameters = parameters?.map((name) => {
    const parameter = all.find((one) => one.name === name);
    if (parameter === undefined) throw new Error(`${endpointId} takes no ${name}`);
    return parameter;
  });
  return {
    id: `get${operationName}`,
    method: endpoint.method,
    path,
    token: endpoint.token,
    summary,
    weight: weight ?? endpoint.weight,
    parameters: selectedParameters ?? all,
    segments,
    answer: toAnswer(shape),
  };
}
