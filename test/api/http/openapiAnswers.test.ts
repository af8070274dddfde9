// The document includes the effects of parameters on answers: members that `filter` leaves out, the price of
// `estimate`, the script of `callback`, and each format by its media type.
import assert from 'node:assert/strict';
import { afterAll, beforeAll, test } from 'vitest';
import { Check } from 'typebox/schema';
import { ENDPOINTS } from '../../../api/endpoints/index.ts';
import { buildOpenApi } from '../../../api/introspection/openapi/openapi.ts';
import { loaded } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';

type Json = Readonly<Record<string, unknown>>;

interface Document {
  readonly paths: Readonly<Record<string, { readonly get?: { readonly responses: Json } }>>;
  readonly components: Readonly<Record<string, Json>>;
}

let server: TestServer;
let document: Document;
beforeAll(async () => {
  server = await startServer();
  await loaded(server, 'PRICES', 'symbol,date,close\nAAPL,2024-01-02,1.5\n', {
    key: 'symbol',
    date: 'date',
  });
  document = JSON.parse(JSON.stringify(buildOpenApi(ENDPOINTS, 'svc'))) as Document;
});
afterAll(() => server.close());

/** The schema with its references resolved. */
function whole(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(whole);
  const { $ref, ...rest } = value as Json;
  if (typeof $ref !== 'string') {
    return Object.fromEntries(Object.entries(rest).map(([name, one]) => [name, whole(one)]));
  }
  const [kind = '', name = ''] = $ref.split('/').slice(2);
  return whole(document.components[kind]?.[name]);
}

/** The path of an operation, and requests for it. */
const CALLS: readonly (readonly [string, string])[] = [
  ['/time-series', '/time-series?filter=id'],
  ['/metadata/time-series', '/metadata/time-series?filter=id'],
  ['/files', '/files?filter=id'],
  ['/account/usage', '/account/usage?filter=dailyUsage'],
  ['/account/allowance', '/account/allowance?filter=messagesUsed'],
  ['/account/metadata', '/account/metadata?filter=tierName'],
  ...[
    '',
    'filter=date',
    'estimate=true',
    'callback=f',
    'format=jsonl',
    'format=csv',
    'format=psv',
  ].map(
    (query) =>
      ['/ref-data/us/dates/{type}/{direction}', `/ref-data/us/dates/trade/next?${query}`] as const,
  ),
  ...[
    'filter=close',
    'estimate=true',
    'callback=f',
    'format=jsonl',
    'format=arrow',
    'format=parquet',
  ].map((query) => ['/data/{workspace}/{id}', `/data/WS/PRICES?${query}`] as const),
  ...['estimate=true', 'callback=f', 'format=jsonl'].flatMap((query) => [
    ['/sql-query/{workspace}', `/sql-query/WS?sqlQuery=SELECT+*+FROM+PRICES&${query}`] as const,
    ['/ref-data/{list}', `/ref-data/symbols?${query}`] as const,
    ['/tops', `/tops?symbols=AAPL&${query}`] as const,
    ['/last', `/last?symbols=AAPL&${query}`] as const,
    ['/deep', `/deep?symbols=AAPL&${query}`] as const,
    ['/tops/last', `/tops/last?symbols=AAPL&${query}`] as const,
    ['/deep/{channel}', `/deep/book?symbols=AAPL&${query}`] as const,
    ['/stats/records', `/stats/records?${query}`] as const,
  ]),
];

for (const [path, request] of CALLS) {
  test(request, async () => {
    const separator = request.includes('?') ? '&' : '?';
    const url = `${server.base}/v1${request}${separator}token=${server.secret}`;
    const answer = await fetch(url);
    const text = await answer.text();
    assert.equal(answer.status, 200, text);
    const type = answer.headers.get('content-type')?.split(';')[0] ?? '';
    const ok = whole(document.paths[path]?.get?.responses['200']) as {
      readonly content: Readonly<Record<string, { readonly schema?: object }>>;
    };
    const declared = ok.content[type];
    assert.ok(declared !== undefined, `${type} is not among ${Object.keys(ok.content).join(', ')}`);
    if (type !== 'application/json') return;
    assert.ok(declared.schema !== undefined && Check(declared.schema, JSON.parse(text)), text);
  });
}
