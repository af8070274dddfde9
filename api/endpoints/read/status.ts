// `GET /status` and the OpenAPI document, without a token.
import { Type } from '../../../reads/request/schema.ts';
import { marketDocument } from '../../market/document/marketDocument.ts';
import type { AnyEndpoint, OpenEndpoint } from '../../request/endpoint.ts';
import { textOf } from '../../../reads/request/parameters.ts';
import { buildOpenApi } from '../../introspection/openapi/openapi.ts';
import { VERSION } from '../../../store/base/version.ts';

export const status: OpenEndpoint = {
  id: 'getStatus',
  method: 'GET',
  path: '/status',
  token: 'none',
  summary: 'Health of the service.',
  weight: 'free',
  parameters: [],
  answer: Type.Object({
    status: Type.Literal('up'),
    version: Type.String(),
    time: Type.Integer({ description: 'epoch milliseconds' }),
  }),
  failures: 'data',
  handle: async (_call, { clock }) => ({
    kind: 'json',
    value: { status: 'up', version: VERSION, time: clock() },
    metering: 'none',
  }),
};

const MARKET = 'market';

type BuildDocument = (table: readonly AnyEndpoint[], brand: string) => object | Promise<object>;

/** Caches the last document: it needs no token, and takes 35 to 50 ms to build. */
function cacheLatest(build: BuildDocument): BuildDocument {
  let cached: { readonly brand: string; readonly document: object | Promise<object> } | undefined;
  return (table, brand) => {
    if (cached?.brand !== brand) cached = { brand, document: build(table, brand) };
    return cached.document;
  };
}
const wholeDocument = cacheLatest(buildOpenApi);
const marketPart = cacheLatest(marketDocument);

/** The whole table is an argument, so that this row can be part of it. */
export const openApiDocument = (table: () => readonly AnyEndpoint[]): OpenEndpoint => ({
  id: 'getOpenApi',
  method: 'GET',
  path: '/openapi-doc',
  aliases: ['/platform/swagger-json'],
  deprecated: { '/platform/swagger-json': '2022-07-19' },
  token: 'none',
  summary: 'This interface as an OpenAPI 3.1 document.',
  weight: 'free',
  parameters: [
    {
      kind: 'choice',
      name: 'part',
      choices: [MARKET],
      help: 'market: a document of its own, with all that is in the answers of each market type.',
    },
  ],
  answer: Type.Object({}, { additionalProperties: true }),
  failures: 'data',
  handle: async ({ query }, { settings: { brand } }) => ({
    kind: 'json',
    value: await (textOf(query, 'part') === MARKET ? marketPart : wholeDocument)(table(), brand),
    metering: 'free',
  }),
});
