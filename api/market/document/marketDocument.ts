// The market as an OpenAPI document of its own: an operation for each type, and all that is in its answer.
// The document of all endpoints has one operation for many types, whose answers it can only call objects or
// lists.
import { Type } from '../../request/body/schema.ts';
import type { Shape } from '../../../market/types/shape.ts';
import { shapeCalled, typeShapes } from '../../../market/types/shapes.ts';
import { type Described, openApi } from '../../about/openapi/openapi.ts';
import type { Endpoint } from '../../request/endpoint.ts';
import { otherRows } from './otherRows.ts';
import type { TypeRow } from './typeRow.ts';
import { toldTypes } from './typeRows.ts';

const ABOUT = {
  title: 'Tapedeck: the market',
  description:
    'Answers of the market, each type by its own path. They are those without `filter`, which leaves ' +
    'attributes out, and as JSON. Further attributes may come.',
  externalDocs: {
    url: '/v1/openapi-doc',
    description: 'All endpoints with all of their parameters and formats.',
  },
};

/** @param table of all endpoints */
export async function marketDocument(table: readonly Endpoint[], brand: string): Promise<object> {
  const shapes = await typeShapes();
  const types = toldTypes(shapes);
  const rows = [...types.flatMap((type) => type.rows), ...otherRows(types, shapeCalled(shapes))];
  const exact = table.flatMap((endpoint) => exactOf(endpoint));
  const told = new Set(exact.map(({ path }) => path));
  const described = rows.filter(({ path }) => !told.has(path)).map((row) => rowOf(row, table));
  return openApi([...described, ...exact], brand, ABOUT);
}

/** They change what an answer is. */
const SHAPING: ReadonlySet<string> = new Set(['filter', 'format', 'callback', 'estimate']);

const withoutShaping = ({ parameters }: Endpoint): Endpoint['parameters'] =>
  parameters.filter(({ name }) => !SHAPING.has(name));

const answerOf = (shape: Shape): Described['answer'] => Type.Unsafe(shape);

/** A row of the table that knows its own shape. */
function exactOf({ events: _, formats: _formats, shape, ...row }: Endpoint): readonly Described[] {
  if (shape === undefined) return [];
  return [{ ...row, parameters: withoutShaping(row), answer: answerOf(shape) }];
}

function rowOf(
  { called, of, parameters, path, segments, shape, summary, weight }: TypeRow,
  table: readonly Endpoint[],
): Described {
  const endpoint = table.find(({ id }) => id === of);
  if (endpoint === undefined) throw new Error(`there is no endpoint ${of}`);
  const all = withoutShaping(endpoint);
  const taken = parameters?.map((name) => {
    const found = all.find((one) => one.name === name);
    if (found === undefined) throw new Error(`${of} takes no ${name}`);
    return found;
  });
  return {
    id: `get${called}`,
    method: endpoint.method,
    path,
    token: endpoint.token,
    summary,
    weight: weight ?? endpoint.weight,
    parameters: taken ?? all,
    segments,
    answer: answerOf(shape),
  };
}
