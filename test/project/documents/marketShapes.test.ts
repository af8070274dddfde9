// Every answer of the market matches its documented schema exactly: each operation is requested from the
// invented exchange, and from an example of every input that it does not fill. Python validates with closed
// schemas, so that any missing or misspelt attribute is reported.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { marketDocument } from '../../../api/market/document/marketDocument.ts';
import { ENDPOINTS } from '../../../api/endpoints/index.ts';
import type { Input } from '../../../market/inputs/inputRow.ts';
import { INPUTS } from '../../../market/inputs/inputs.ts';
import { exampleRow } from '../../../market/types/example.ts';
import { send } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';
import { type Call, checkedByPython, needsPython } from './openapi/openapiPython.ts';

/** Friday evening in New York: the session is over. */
const NOW_MS = Date.parse('2026-01-30T22:00:00Z');
const SMALL = { symbols: 6, years: 4, minuteDays: 5 } as const;

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly type?: unknown;
  readonly additionalProperties?: unknown;
}

interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: string;
  readonly schema: { readonly enum?: readonly string[] };
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
  };
}

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
}

let server: TestServer;
let symbols: readonly string[] = [];
/** The stored properties of each input in CORE. */
let stored: ReadonlyMap<string, readonly string[]> = new Map();
let document: Document;

beforeAll(async () => {
  server = await startServer({ seams: { clock: () => NOW_MS, exchange: SMALL } });
  await server.tapedeck.exchange?.filled();
  symbols = (await json<readonly { symbol: string }[]>('/ref-data/symbols')).map(
    ({ symbol }) => symbol,
  );
  const filled = (await json<readonly Stored[]>('/datasets/CORE')).map((one) => one.datasetId);
  const others = INPUTS.filter(({ id }) => !filled.includes(id));
  for (const input of others) await loadExample(input);
  const datasets = await json<readonly Stored[]>('/datasets/CORE');
  stored = new Map(datasets.map((one) => [one.datasetId, Object.keys(one.schema.properties)]));
  document = JSON.parse(JSON.stringify(await marketDocument(ENDPOINTS, 'svc'))) as Document;
});
afterAll(() => server.close());

interface Stored {
  readonly datasetId: string;
  readonly schema: { readonly properties: object };
}

const json = async <T>(path: string): Promise<T> =>
  JSON.parse((await send(server, 'GET', path)).text) as T;

/** Another record beside the example: of today, or of the future. */
const ANOTHER: Readonly<Record<string, object>> = {
  IPOS: { offeringDate: '2026-01-30' },
  SPLITS: { exDate: '2026-02-27' },
};

/** Loads an example of an input that the exchange does not fill, with records of today and of the future. */
async function loadExample(input: Input): Promise<void> {
  const isOfSymbol = input.mapping.key === 'symbol' && !input.id.startsWith('FUTURES');
  const row = { ...exampleRow(input), ...(isOfSymbol ? { symbol: symbols[0] } : {}) };
  const rows = [
    row,
    ...(ANOTHER[input.id] === undefined ? [] : [{ ...row, ...ANOTHER[input.id] }]),
  ];
  const { status, text } = await send(server, 'POST', `/data/CORE/${input.id}?wait=true`, rows);
  assert.equal(status, 200, `${input.id}: ${text}`);
}

/** Requires all members and permits no others, except members of a record that CORE does not store. */
function closed(schema: unknown, name = ''): unknown {
  if (Array.isArray(schema)) return schema.map((one) => closed(one));
  if (typeof schema !== 'object' || schema === null) return schema;
  const closedSchema = Object.fromEntries(
    Object.entries(schema).map(([key, one]) => [key, closed(one)]),
  ) as Schema;
  if (closedSchema.properties === undefined) return closedSchema;
  const names = Object.keys(closedSchema.properties);
  const storedNames = storedOf(name);
  const required = name === BATCH ? [] : names.filter((one) => storedNames?.includes(one) ?? true);
  return { ...closedSchema, required, additionalProperties: false };
}

/** A map by the names of the requested types. */
const BATCH = 'StockTypes';

/** Undefined if the schema is not a record; a company is a record, or is built from its symbol. */
function storedOf(name: string): readonly string[] | undefined {
  const id = name.endsWith('Record') ? name.slice(0, -'Record'.length) : name;
  const dataset = id.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase();
  return name === id && id !== 'Company' ? undefined : (stored.get(dataset) ?? []);
}

const closedDocument = (): unknown => ({
  ...document,
  components: {
    ...document.components,
    schemas: Object.fromEntries(
      Object.entries(document.components.schemas).map(([name, one]) => [name, closed(one, name)]),
    ),
  },
});

/** The first symbol of the exchange pays no dividends. */
const PAYING = 'DALADO';
/** One of the exchange, and an unknown one. */
const FIGIS = ['ZZGCB0000019', 'NONE'];

/** Values of path parameters without an own enumeration. */
const SEGMENTS: Readonly<Record<string, string>> = {
  range: '3m',
  date: '20260129',
  indicator: 'sma',
  side: 'call',
  from: 'USD',
  to: 'CAD',
  list: 'mostactive',
  collection: 'sector',
  by: 'region',
  name: 'US',
  fragment: 'co',
  underlying: 'NG',
  expiration: '202602',
};

function callOf({ operationId, parameters = [] }: Operation): Call {
  const symbol = operationId.startsWith('getCrypto') ? 'BTCUSD' : (symbols[0] ?? '');
  const own = parameters.map((one) =>
    one.$ref === undefined
      ? one
      : (document.components.parameters[one.$ref.split('/').at(-1) ?? ''] ?? one),
  );
  const few = own.some(({ name }) => name === 'chartLast') ? FEW : {};
  const values = own
    .filter((one) => one.in === 'path')
    .map(({ name, schema }): [string, string] => [
      name,
      SEGMENTS[name] ?? schema.enum?.[1] ?? symbol,
    ]);
  return [operationId, { ...few, ...Object.fromEntries(values), ...queryOf(operationId) }];
}

/** The query parameters of an operation that give an answer that is not empty. */
function queryOf(id: string): Readonly<Record<string, string | number>> {
  const [first = '', second = ''] = symbols;
  const queries: Readonly<Record<string, Readonly<Record<string, string | number>>>> = {
    getDividends: {
      symbol: PAYING,
      range: '5y',
    },
    getSplits: { range: '7y' },
    getDailyStats: { last: 2 },
    streamDeep: { symbols: first },
    getStockMarketCollection: { collectionName: 'Utilities' },
    getFxLatest: { symbols: 'USDCAD' },
    getFxHistorical: {
      symbols: 'USDCAD',
      last: 2,
    },
    convertFx: {
      symbols: 'USDCAD',
      amount: '7',
    },
    getSymbolsByIsin: { isin: 'US0009911092' },
    getSymbolsByRic: { ric: 'NONE.O' },
    getSymbolsByFigi: {
      figi: FIGIS.join(','),
      mapped: 'true',
    },
    getStockBatch: { types: 'quote,chart,news,earnings,company,peers,price,book' },
    getStockMarketBatch: {
      types: 'quote,stats,options,income',
      symbols: `${first},${second}`,
    },
  };
  return queries[id] ?? {};
}

/** Few bars, since Python is slow with each bar. */
const FEW = { chartLast: 3 };

/** Calls whose shape depends on parameters only. */
const inOtherShapes = (): readonly Call[] =>
  [
    { types: 'chart,intraday-prices', chartCloseOnly: 'true', chartIEXOnly: 'true', ...FEW },
    { types: 'chart', range: '1d', chartIEXOnly: 'true', ...FEW },
    { types: 'chart,historical-prices', range: 'dynamic', ...FEW },
    { types: 'indicator,chart', indicator: 'sma', range: '5dm', lastIndicator: 'true', ...FEW },
    { types: 'indicator', indicator: 'macd', indicatorOnly: 'true' },
    { types: 'chart', exactDate: '2026-01-29', ...FEW },
  ].map((query) => ['getStockBatch', { symbol: symbols[0] ?? '', ...query }]);

/** The exchange has no such records, and states come only from recordings. */
const EMPTY: readonly string[] = [
  'getDividendsNext',
  'getUpcomingDividends',
  'getRefDataOtcSymbols',
  'getRefDataMutualFundsSymbols',
  'getDeepTradeBreaks',
  'getDeepSystemEvent',
  'getDeepTradingStatus',
  'getDeepOpHaltStatus',
  'getDeepSsrStatus',
  'getDeepSecurityEvent',
  'getDeepOfficialPrice',
  'getDeepAuction',
  'getSymbolsByRic',
  'searchSymbolsBy',
];

const isEmpty = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.values(value).every(isEmpty);

/** Names that are keys: symbols, identifiers, and requested types. */
function isFree(id: string, name: string): boolean {
  const isType = id.endsWith('Batch') && Object.hasOwn(batchTypes(), name);
  const isKey = symbols.includes(name) || FIGIS.includes(name);
  // An indicator may be returned without its chart.
  return isType || isKey || (id === 'getIndicatorByIndicator' && name === 'chart');
}

const batchTypes = (): object => document.components.schemas[BATCH]?.properties ?? {};

async function checkedAgainst(
  openApi: unknown,
  calls: readonly Call[],
): ReturnType<typeof checkedByPython> {
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-shapes-'));
  try {
    const file = join(folder, 'market.json');
    await writeFile(file, JSON.stringify(openApi));
    return await checkedByPython(server, calls, file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

test('every answer of the market matches its document exactly', async ({ skip }) => {
  await needsPython(skip);
  const operations = Object.values(document.paths).flatMap((item) => Object.values(item));
  const calls = [...operations.map(callOf), ...inOtherShapes()];
  const checked = await checkedAgainst(closedDocument(), calls);
  const answers = checked.map((one, at) => ({ ...one, id: calls[at]?.[0] ?? '' }));
  const wrong = answers.filter(({ errors, status }) => status !== 200 || errors.length > 0);
  expect(wrong.map(({ errors, id, status }) => [id, status, errors])).toEqual([]);
  expect(answers.filter(({ answer }) => isEmpty(answer)).map(({ id }) => id)).toEqual(EMPTY);
  const unnoticed = answers.flatMap(({ id, unnoticed: names }) =>
    names.filter((name) => !isFree(id, name)).map((name) => `${id}.${name}`),
  );
  expect(unnoticed).toEqual([]);
});

test('a different shape is reported', async ({ skip }) => {
  await needsPython(skip);
  const { Quote = {}, ...schemas } = document.components.schemas;
  const { latestPrice, ...properties } = Quote.properties ?? {};
  const calls: readonly Call[] = [['getQuote', { symbol: symbols[0] ?? '' }]];
  const errorsOf = async (changed: Schema): Promise<readonly string[]> => {
    const components = { ...document.components, schemas: { ...schemas, Quote: changed } };
    const [only] = await checkedAgainst({ ...document, components }, calls);
    return only?.errors ?? [];
  };
  expect(await errorsOf(Quote)).toEqual([]);
  const misspelt = { ...properties, lastPrice: latestPrice ?? {} };
  expect(await errorsOf({ ...Quote, properties: misspelt, required: ['lastPrice'] })).toHaveLength(
    1,
  );
  const asText = { ...properties, latestPrice: { type: 'string' } };
  expect(await errorsOf({ ...Quote, properties: asText })).toHaveLength(1);
});
