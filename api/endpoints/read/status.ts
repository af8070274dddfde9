// `GET /status` and the description of the interface itself: no token.
import { Type } from 'typebox';
import type { Endpoint } from '../../request/endpoint.ts';
import { openApi } from '../../http/openapi.ts';
import { VERSION } from '../../../store/base/version.ts';

export const status: Endpoint = {
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

/** The whole table is an argument, so that this row can be part of it. */
export const openApiDocument = (table: () => readonly Endpoint[]): Endpoint => ({
  id: 'getOpenApi',
  method: 'GET',
  path: '/openapi-doc',
  aliases: ['/platform/swagger-json'],
  deprecated: { '/platform/swagger-json': '2022-07-19' },
  token: 'none',
  summary: 'This interface as an OpenAPI 3.1 document.',
  weight: 'free',
  parameters: [],
  answer: Type.Object({}, { additionalProperties: true }),
  failures: 'data',
  handle: async (_call, { settings }) => ({
    kind: 'json',
    value: openApi(table(), settings.brand),
    metering: 'none',
  }),
});
