// The requests of each row of the endpoint table and its reach. The permissions follow from the reach, and
// not from the answers of the server (matrixRules.ts).
import assert from 'node:assert/strict';
import type { AnyEndpoint } from '../../../api/request/endpoint.ts';
import { ENDPOINTS } from '../../../api/endpoints/index.ts';
import { expandPath } from '../../../api/introspection/openapi/openapi.ts';

/**
 * The data of a row.
 * nothing: public information. lists: lists of the data that the token may read. read: records.
 * core: any records of the operator's workspace.
 * inspect: the definition and history of a dataset. write, delete: records. workspace: a whole
 * workspace, or the list of them. account: the account itself, its money and tokens. own: the
 * state of the token itself. operator: all accounts.
 */
export type Reach =
  | 'nothing'
  | 'lists'
  | 'read'
  | 'core'
  | 'inspect'
  | 'write'
  | 'delete'
  | 'workspace'
  | 'account'
  | 'own'
  | 'operator';

/** The names in a request: path segments by their own names, and the names for bodies. */
export interface Target {
  readonly workspace: string;
  readonly id: string;
  readonly key: string;
  readonly symbol: string;
  readonly part: string;
  readonly detail: string;
  /** Of reference data. */
  readonly list: string;
  readonly kind: string;
  readonly by: string;
  readonly name: string;
  readonly fragment: string;
  readonly subkey: string;
  readonly date: string;
  readonly type: string;
  readonly jobId: string;
  readonly attribute: string;
  /** Of options. */
  readonly expiration: string;
  readonly contract: string;
  readonly underlying: string;
  /** An unused name. */
  readonly newId: string;
  readonly accountId: string;
  readonly tokenId: string;
  /** Texts of a token that may be signed, and of one that is signed. */
  readonly signable: string;
  readonly signed: string;
  /** Ids of a stream, and of one that is not open. */
  readonly channel: string;
  readonly connection: string;
  readonly replay: string;
  readonly stream: string;
  /** Currencies. */
  readonly from: string;
  readonly to: string;
  /** Of a download: this one was never issued. */
  readonly link: string;
}

export interface Case {
  readonly reach: Reach;
  /** Costs messages. */
  readonly metered?: true;
  /** A metered request whose answer is empty, and therefore free. */
  readonly empty?: true;
  /** For paid tiers, and charged as it is sent: its first headers include no price. */
  readonly streams?: true;
  /** Describes all records: not for datasets in which each account has lines of its own. */
  readonly whole?: true;
  /** Needs a secret token, though the row accepts others too. */
  readonly secret?: true;
  /** Path segments that are not those of the target. */
  readonly path?: (target: Target) => Partial<Target>;
  readonly query?: (target: Target) => string;
  /** A valid body, if the row has one: no refusal may be caused by the body. */
  readonly body?: (target: Target) => string;
  /** Status of the answer to a permitted caller; 200 by default. */
  readonly answers?: number;
  /**
   * The object that a permitted call must not use up or grow: a dataset is created for it, the account to
   * change is another one, the record is always the same, the key to delete does not exist.
   */
  readonly spends?: 'dataset' | 'account' | 'record' | 'key';
  /** The error for a body that names another account's token. */
  readonly foreignToken?: string;
}

const json =
  (value: (target: Target) => unknown): NonNullable<Case['body']> =>
  (target) =>
    JSON.stringify(value(target));

const record = ({ newId }: Target): object => ({
  symbol: newId,
  kind: 'S',
  date: '2024-01-01',
  v: 1,
});
const csv = (target: Target): string =>
  `symbol,kind,date,v\n${Object.values(record(target)).join(',')}\n`;

const sql = ({ id }: Target): string => `SELECT * FROM \`${id}\` LIMIT 1`;
/** Encoded as for a signature: JavaScript leaves five more characters unencoded. */
const encoded = (text: string): string =>
  encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
const sqlOfAll = ({ id, workspace }: Target): string =>
  `WITH t AS (SELECT * FROM ${workspace}.${id}) SELECT * FROM t LIMIT 1`;

const CREDENTIAL = { type: 'HTTP', headers: { 'x-key': 'none' } };
/** A webhook without events, because its deliveries would arrive at any time. */
const WEBHOOK = { url: 'https://example.com/told', datasetId: 'NONE' };
const sourceOf = ({ id }: Target): object => ({ type: 'DATASET', dataset: id });
const exportOf = ({ id }: Target): object => ({
  dataset: id,
  format: 'csv',
  target: { type: 'FILE', path: 'a' },
});
const scheduleOf = ({ id }: Target): object => ({
  dataSourceId: 'DATA_SOURCE_0',
  datasetId: id,
  every: 'day',
});

/** Stored, not sent; of a symbol that does not exist, so that it never fires. */
const RULE = {
  ruleSet: 'NOSUCH',
  type: 'any',
  ruleName: 'never',
  conditions: [['latestPrice', '>', 1e6]],
  outputs: [
    {
      method: 'logs',
      frequency: 60,
    },
  ],
};

const SCHEMA = { properties: { symbol: { type: 'string' } } };
const series = ({ workspace, id }: Target): Partial<Target> => ({ id: `${workspace}.${id}` });
const notThe = (name: string): string => `"${name}" is not a token of this account`;

const OF_ACCOUNT = { reach: 'account' } as const satisfies Case;
const OF_WORKSPACE = { reach: 'workspace' } as const satisfies Case;
const OF_OPERATOR = { reach: 'operator', spends: 'account' } as const satisfies Case;

/** Open to all tiers of these worlds; its messages are charged later. */
const STREAM = {
  reach: 'core',
  metered: true,
  empty: true,
  query: ({ symbol }) => `symbols=${symbol}`,
} as const satisfies Case;
const STATE_OF_CORE = {
  reach: 'core',
  query: ({ symbol }) => `symbols=${symbol}`,
} as const satisfies Case;

const EMPTY_OF_CORE = { reach: 'core', metered: true, empty: true } as const satisfies Case;

/** One entry or more for each row of the table: a new endpoint adds its requests here. */
export const CASES: Readonly<Record<string, Case | readonly Case[]>> = {
  getStatus: { reach: 'nothing' },
  getOpenApi: { reach: 'nothing' },
  getChangelog: { reach: 'nothing' },
  listTimeSeries: { reach: 'lists' },
  getTimeSeriesMetadata: { reach: 'lists' },
  getTimeSeries: [
    { reach: 'read', metered: true, path: series },
    // Without a workspace it is in the default workspace, or in CORE.
    { reach: 'read', metered: true },
  ],
  listFiles: { reach: 'lists' },
  // A file type with the name of the dataset, with the same rules.
  getFileInfo: [
    { reach: 'read', path: series, whole: true },
    { reach: 'read', whole: true },
  ],
  downloadFile: [
    { reach: 'read', metered: true, path: series, answers: 302, whole: true },
    { reach: 'read', metered: true, answers: 302, whole: true },
  ],
  getFileOnce: { reach: 'nothing', answers: 410 },
  listData: { reach: 'lists' },
  queryData: { reach: 'read', metered: true },
  // No world has data of the stock endpoints: a permitted caller gets 404. stock.test.ts tests the reads.
  getStockBatch: { reach: 'core', metered: true, query: () => 'types=quote', answers: 404 },
  getMarketVolume: { reach: 'core', metered: true, answers: 404 },
  getTradingDates: {
    reach: 'core',
    metered: true,
    path: () => ({ type: 'trade', direction: 'next', last: '1', startDate: '20240102' }),
  },
  // The inputs are empty; test/market/entitlements.test.ts tests their permissions.
  getReferenceList: EMPTY_OF_CORE,
  getSymbolsOfKind: EMPTY_OF_CORE,
  getSymbolsOf: EMPTY_OF_CORE,
  getVenues: EMPTY_OF_CORE,
  getSymbolsByIsin: { ...EMPTY_OF_CORE, query: () => 'isin=US0378331005' },
  getSymbolsByFigi: { ...EMPTY_OF_CORE, query: () => 'figi=BBG000B9XRY4' },
  getSymbolsByRic: { ...EMPTY_OF_CORE, query: () => 'ric=AAPL.OQ' },
  searchSymbols: EMPTY_OF_CORE,
  streamStocksUS: STREAM,
  streamStocksUS1Second: STREAM,
  streamStocksUS5Second: STREAM,
  streamStocksUS1Minute: STREAM,
  streamStocksUSNoUTP: STREAM,
  streamStocksUSNoUTP1Second: STREAM,
  streamStocksUSNoUTP5Second: STREAM,
  streamStocksUSNoUTP1Minute: STREAM,
  streamStocksOTC: STREAM,
  streamNewsStream: STREAM,
  streamSentiment: STREAM,
  streamCryptoQuotes: STREAM,
  streamCryptoBook: STREAM,
  streamCryptoEvents: STREAM,
  streamForex: STREAM,
  streamForex1Second: STREAM,
  streamForex5Second: STREAM,
  streamForex1Minute: STREAM,
  streamRecords: { reach: 'read', metered: true, empty: true, whole: true, streams: true },
  streamAuction: STREAM,
  streamBook: STREAM,
  streamOpHaltStatus: STREAM,
  streamOfficialPrice: STREAM,
  streamSecurityEvent: STREAM,
  streamSsrStatus: STREAM,
  streamSystemEvent: STREAM,
  streamTrades: STREAM,
  streamTradeBreaks: STREAM,
  streamTradingStatus: STREAM,
  // Answers that need no rate.
  getFxLatest: { reach: 'core', metered: true, query: () => 'symbols=USDUSD' },
  convertFx: { reach: 'core', metered: true, query: () => 'symbols=USDUSD&amount=7' },
  getFxHistorical: { ...EMPTY_OF_CORE, query: () => 'symbols=USDCAD' },
  getFxRate: { reach: 'core', metered: true },
  getIntradayStats: { reach: 'core' },
  getRecentStats: { reach: 'core' },
  getRecordStats: { reach: 'core' },
  getHistoricalStats: { reach: 'core' },
  getDailyStats: { reach: 'core' },
  // No world publishes a feed: test/http/cases/reads/exchange.http lists them.
  getHist: { reach: 'core' },
  getOptionMonths: EMPTY_OF_CORE,
  getOptionSymbols: { ...EMPTY_OF_CORE, answers: 404 },
  getOptionChart: { reach: 'core', metered: true, answers: 404 },
  getFutures: EMPTY_OF_CORE,
  getFuturesChart: { reach: 'core', metered: true, answers: 404 },
  getCrypto: { reach: 'core', metered: true, answers: 404 },
  createReplay: {
    reach: 'core',
    answers: 404,
    body: json(() => ({
      symbols: ['AAPL'],
      from: '2024-01-02',
    })),
  },
  listReplays: { reach: 'core' },
  getReplay: { reach: 'core', answers: 404 },
  changeReplay: {
    reach: 'core',
    answers: 404,
    body: json(() => ({ state: 'paused' })),
  },
  deleteReplay: { reach: 'core', answers: 404 },
  streamReplay: { reach: 'core', metered: true, answers: 404 },
  changeStream: {
    reach: 'core',
    answers: 404,
    body: json(() => ({ symbols: ['AAPL'] })),
  },
  streamTops: STATE_OF_CORE,
  streamLast: STATE_OF_CORE,
  streamDeep: STATE_OF_CORE,
  getTopsLast: STATE_OF_CORE,
  getDeepPart: STATE_OF_CORE,
  // test/api/read/dataPoints.test.ts tests the points of the stock types and their permissions.
  listDataPoints: { reach: 'core', answers: 404 },
  getDataPoint: { reach: 'core', metered: true, answers: 404 },
  getStock: { reach: 'core', metered: true, path: () => ({ type: 'quote' }), answers: 404 },
  sqlQuery: [
    {
      reach: 'read',
      metered: true,
      query: (target) => `sqlQuery=${encoded(sql(target))}`,
    },
    // The dataset by its qualified name, requested in any workspace.
    {
      reach: 'read',
      metered: true,
      query: (target) => `sqlQuery=${encoded(sqlOfAll(target))}`,
    },
  ],
  postSqlQuery: [
    { reach: 'read', metered: true, body: sql },
    { reach: 'read', metered: true, body: json((target) => ({ query: sqlOfAll(target) })) },
  ],
  listViews: OF_WORKSPACE,
  saveView: {
    ...OF_WORKSPACE,
    path: ({ newId }) => ({ id: newId }),
    body: json(({ newId }) => ({ view: { name: newId, query: 'SELECT 1 AS one' } })),
  },
  // No view has the name: a permitted caller gets 404.
  getView: { ...OF_WORKSPACE, answers: 404 },
  deleteView: { ...OF_WORKSPACE, answers: 404 },
  listPublished: OF_WORKSPACE,
  publishQuery: {
    ...OF_WORKSPACE,
    path: ({ newId }) => ({ id: newId }),
    body: json(({ newId }) => ({ endpoint: { name: newId, query: 'SELECT 1 AS one' } })),
  },
  // Each owner publishes it under the name of its dataset.
  callPublished: { reach: 'read', metered: true, whole: true },
  deletePublished: { ...OF_WORKSPACE, path: ({ newId }) => ({ id: newId }), answers: 404 },
  getWorkspaceOpenApi: OF_WORKSPACE,
  loadData: [
    { reach: 'write', spends: 'record', query: () => 'wait=true', body: csv },
    { reach: 'write', secret: true, spends: 'record', query: () => 'dryRun=true', body: csv },
  ],
  loadDataset: { reach: 'write', spends: 'record', query: () => 'wait=true', body: csv },
  writeRecord: { reach: 'write', spends: 'record', body: json((target) => [record(target)]) },
  deleteRecords: [
    { reach: 'delete', spends: 'key' },
    { reach: 'delete', spends: 'key', secret: true, query: () => 'purge=true' },
  ],
  listQuarantine: OF_WORKSPACE,
  releaseQuarantine: OF_WORKSPACE,
  discardQuarantine: OF_WORKSPACE,
  listDatasets: OF_WORKSPACE,
  createDataset: [
    {
      ...OF_WORKSPACE,
      path: ({ newId }) => ({ id: newId }),
      body: json(({ newId }) => ({ dataset: { datasetId: newId, schema: SCHEMA } })),
    },
    // With the id of an existing dataset it changes that dataset.
    {
      ...OF_WORKSPACE,
      body: json(({ newId }) => ({
        dataset: { datasetId: `ONE_${newId}`, title: newId, schema: SCHEMA },
      })),
    },
  ],
  getDataset: OF_WORKSPACE,
  changeDataset: { ...OF_WORKSPACE, body: json(({ newId }) => ({ dataset: { title: newId } })) },
  deleteDataset: { ...OF_WORKSPACE, spends: 'dataset' },
  renameDataset: { ...OF_WORKSPACE, spends: 'dataset' },
  listVersions: { reach: 'read', whole: true },
  listChanges: { reach: 'inspect', whole: true, query: () => 'since=0' },
  generateSchema: { ...OF_WORKSPACE, body: csv },
  // Sources, credentials and schedules have ids of their own: none has the dataset's name.
  generateSchemaOfSource: { ...OF_WORKSPACE, answers: 404 },
  sampleDataSource: { ...OF_WORKSPACE, answers: 404 },
  listObjects: { ...OF_WORKSPACE, answers: 404 },
  listCredentials: OF_WORKSPACE,
  createCredential: { ...OF_WORKSPACE, body: json(() => CREDENTIAL) },
  getCredential: { ...OF_WORKSPACE, answers: 404 },
  changeCredential: { ...OF_WORKSPACE, body: json(() => CREDENTIAL), answers: 404 },
  deleteCredential: { ...OF_WORKSPACE, answers: 404 },
  configureAwsS3: {
    ...OF_WORKSPACE,
    query: () => `arnrole=${encoded('arn:aws:iam::123456789012:role/reader')}`,
    answers: 400,
  },
  listDataSources: OF_WORKSPACE,
  createDataSource: { ...OF_WORKSPACE, body: json(sourceOf) },
  getDataSource: { ...OF_WORKSPACE, answers: 404 },
  changeDataSource: { ...OF_WORKSPACE, body: json(sourceOf), answers: 404 },
  deleteDataSource: { ...OF_WORKSPACE, answers: 404 },
  listIngestionSchedules: OF_WORKSPACE,
  createIngestionSchedule: { ...OF_WORKSPACE, body: json(scheduleOf), answers: 400 },
  getIngestionSchedule: { ...OF_WORKSPACE, answers: 404 },
  changeIngestionSchedule: { ...OF_WORKSPACE, body: json(scheduleOf), answers: 404 },
  deleteIngestionSchedule: { ...OF_WORKSPACE, answers: 404 },
  runIngestionSchedule: { ...OF_WORKSPACE, answers: 404 },
  listIngestionHistory: OF_WORKSPACE,
  createIngestionHistory: {
    ...OF_WORKSPACE,
    body: json(() => ({ ingestionScheduleId: 'INGESTION_SCHEDULE_0', note: '' })),
    answers: 400,
  },
  getIngestionHistory: { ...OF_WORKSPACE, answers: 404 },
  changeIngestionHistory: { ...OF_WORKSPACE, body: json(() => ({ note: '' })), answers: 404 },
  deleteIngestionHistory: { ...OF_WORKSPACE, answers: 404 },
  listWebhooks: OF_WORKSPACE,
  createWebhook: { ...OF_WORKSPACE, body: json(() => WEBHOOK) },
  getWebhook: { ...OF_WORKSPACE, answers: 404 },
  changeWebhook: { ...OF_WORKSPACE, body: json(() => WEBHOOK), answers: 404 },
  deleteWebhook: { ...OF_WORKSPACE, answers: 404 },
  rulesSchema: OF_ACCOUNT,
  rulesLookup: { ...OF_ACCOUNT, path: () => ({ name: 'sector' }) },
  createRule: { ...OF_ACCOUNT, body: json(() => RULE) },
  backtestRule: {
    reach: 'account',
    metered: true,
    empty: true,
    body: json(() => ({
      ...RULE,
      step: 'day',
    })),
  },
  pauseRule: { ...OF_ACCOUNT, body: json(() => ({ ruleId: 'NONE' })) },
  resumeRule: { ...OF_ACCOUNT, body: json(() => ({ ruleId: 'NONE' })) },
  deleteRule: OF_ACCOUNT,
  listRules: OF_ACCOUNT,
  ruleInfo: { ...OF_ACCOUNT, answers: 404 },
  ruleOutput: { ...OF_ACCOUNT, answers: 404 },
  listAlerts: { ...OF_ACCOUNT, answers: 404 },
  listDeliveries: { ...OF_ACCOUNT, answers: 404 },
  redeliverAlert: { ...OF_ACCOUNT, body: json(() => ({ alertId: 'NONE' })), answers: 404 },
  ruleSecret: { ...OF_ACCOUNT, body: json(() => ({ ruleId: 'NONE' })), answers: 404 },
  whyRule: { ...OF_ACCOUNT, metered: true, answers: 404 },
  listFileTypes: OF_WORKSPACE,
  saveFileType: { ...OF_WORKSPACE, path: ({ newId }) => ({ id: newId }), body: json(() => ({})) },
  deleteFileType: { ...OF_WORKSPACE, path: ({ newId }) => ({ id: newId }), answers: 404 },
  listPublishedFiles: OF_WORKSPACE,
  publishFile: { ...OF_WORKSPACE, body: () => 'bytes' },
  publishMadeFile: { ...OF_WORKSPACE, body: json(({ id }) => ({ dataset: id, format: 'csv' })) },
  withdrawFile: { ...OF_WORKSPACE, path: ({ newId }) => ({ id: newId }), answers: 404 },
  listExports: OF_WORKSPACE,
  // No export folder is set: a permitted caller gets 400.
  createExport: { ...OF_WORKSPACE, body: json(exportOf), answers: 400 },
  getExport: { ...OF_WORKSPACE, answers: 404 },
  resumeExport: { ...OF_WORKSPACE, answers: 404 },
  cancelExport: { ...OF_WORKSPACE, answers: 404 },
  createJob: {
    ...OF_WORKSPACE,
    body: json(({ id }) => ({ dataSourceId: 'DATA_SOURCE_0', datasetId: id })),
    answers: 400,
  },
  // The job was an upload.
  retryJob: { ...OF_WORKSPACE, answers: 409 },
  listJobs: [
    OF_WORKSPACE,
    // A job id in place of the type cancels the job: the job has ended.
    { ...OF_WORKSPACE, path: ({ jobId }) => ({ type: jobId }), answers: 409 },
  ],
  getJob: OF_WORKSPACE,
  getInvalidRecords: OF_WORKSPACE,
  cancelJob: { ...OF_WORKSPACE, answers: 409 },
  getLogs: OF_WORKSPACE,
  getMeta: [OF_WORKSPACE, { ...OF_WORKSPACE, path: () => ({ id: '*' }), query: () => 'schema=1' }],
  getIndex: { reach: 'inspect' },
  createIndex: { reach: 'inspect' },
  deleteIndex: { reach: 'inspect' },
  listWorkspaces: OF_WORKSPACE,
  createWorkspace: { ...OF_WORKSPACE, body: json(({ newId }) => ({ name: newId })) },
  changeWorkspace: { ...OF_WORKSPACE, body: json(() => ({ default: true })) },
  getUsage: { ...OF_ACCOUNT, path: () => ({ type: 'messages' }) },
  getCalls: OF_ACCOUNT,
  getAllowance: { reach: 'own' },
  getAccountMetadata: OF_ACCOUNT,
  setMessageBudget: { ...OF_ACCOUNT, body: json(() => ({ totalMessages: 1_000_000_000 })) },
  removeMessageBudget: OF_ACCOUNT,
  setPayAsYouGo: { ...OF_ACCOUNT, body: json(() => ({ allow: true })) },
  signToken: {
    ...OF_ACCOUNT,
    body: json(({ signable }) => ({ tokenToSign: signable })),
    foreignToken: notThe('tokenToSign'),
  },
  getSignedToken: {
    ...OF_ACCOUNT,
    query: ({ signed }) => `signedToken=${signed}`,
    foreignToken: notThe('signedToken'),
  },
  listTokens: OF_ACCOUNT,
  createToken: { ...OF_ACCOUNT, body: json(() => ({ kind: 'publishable' })) },
  changeToken: { ...OF_ACCOUNT, body: json(({ newId }) => ({ name: newId })) },
  rotateToken: OF_ACCOUNT,
  disableToken: OF_ACCOUNT,
  getAttribution: { reach: 'lists' },
  listAccounts: OF_OPERATOR,
  getStanding: OF_OPERATOR,
  rotateDataKey: OF_OPERATOR,
  createAccount: { ...OF_OPERATOR, body: json(({ newId }) => ({ name: newId, tier: 'free' })) },
  getAccount: OF_OPERATOR,
  changeAccount: { ...OF_OPERATOR, body: json(({ newId }) => ({ name: newId })) },
  getAccountUsage: OF_OPERATOR,
  listAccountTokens: OF_OPERATOR,
  createAccountToken: { ...OF_OPERATOR, body: json(() => ({ kind: 'publishable' })) },
  changeAccountToken: { ...OF_OPERATOR, body: json(({ newId }) => ({ name: newId })) },
  rotateAccountToken: OF_OPERATOR,
  getAudit: OF_OPERATOR,
  verifyLedger: OF_OPERATOR,
  verifyFiles: OF_OPERATOR,
  healFiles: { ...OF_OPERATOR, body: json(() => ({ from: 'relative' })), answers: 400 },
  makeBackup: { ...OF_OPERATOR, body: json(() => ({ target: 'relative' })), answers: 400 },
};

/** One request of a row: a route of the table; aliases and optional segments are separate routes. */
export interface Way {
  readonly endpoint: AnyEndpoint;
  readonly testCase: Case;
  readonly route: string;
}

/** All requests of all rows. */
export const WAYS: readonly Way[] = ENDPOINTS.flatMap((endpoint) => {
  const routes = [endpoint.path, ...(endpoint.aliases ?? [])].flatMap(expandPath);
  return [CASES[endpoint.id] ?? []]
    .flat()
    .flatMap((testCase) => routes.map((route) => ({ endpoint, testCase, route })));
});

export interface Request {
  readonly method: AnyEndpoint['method'];
  /** Below the version, with its query. */
  readonly path: string;
  readonly body: string | undefined;
}

export function requestOf({ endpoint, testCase, route }: Way, target: Target): Request {
  const values: Readonly<Record<string, string | undefined>> = {
    ...target,
    ...testCase.path?.(target),
  };
  const path = route.replaceAll(/:(\w+)/g, (_, name: string) => {
    const value = values[name];
    assert.ok(
      value !== undefined,
      `${endpoint.id}: add to Target of matrixCases.ts what :${name} is`,
    );
    return encodeURIComponent(value);
  });
  const query = testCase.query?.(target);
  return {
    method: endpoint.method,
    path: query === undefined ? path : `${path}?${query}`,
    body: testCase.body?.(target),
  };
}
