// The only file that reads the environment. It checks every setting against the table that declares it.
import { distance } from 'fastest-levenshtein';
import type { AddressRules } from '../addresses.ts';
import { type BucketSettings, parseBucketSettings } from './bucketSettings.ts';
import { type BusSettings, parseBusSettings } from './busSettings.ts';
import {
  type DatabaseSettings,
  parseDatabaseSettings,
  checkStandbySettings,
} from './databaseSettings.ts';
import { Failure } from '../failure.ts';
import { SETTINGS } from './settingsTable.ts';
import { parseOrigins, parseListenAddress, type ListenAddress } from './portSettings.ts';
import {
  parseAddressList,
  parseClockBack,
  parseDemoClock,
  checkPattern,
  parseOnOff,
  parseWholeNumber,
  parseZone,
} from './settingValues.ts';

const GIGABYTE = 1024 ** 3;

type SettingName = (typeof SETTINGS)[number]['name'];

/** Settings of one of several nodes that share a catalog. */
interface NodeSettings {
  /** Waits until no other node serves the database, and stops serving it when it can't reach it. */
  readonly standby: boolean;
  readonly role: 'all' | 'api' | 'worker';
  /** While another node serves, this one runs queries for it in its query processes. */
  readonly acceptsRemoteQueries: boolean;
  /** While another node serves, this one answers reads from its replica. */
  readonly nodeReads: boolean;
  /** '' if it is derived from `host` or from the machine's name. */
  readonly nodeHost: string;
}

export interface Settings extends NodeSettings {
  readonly port: number;
  readonly host: string;
  readonly data: string;
  /** Bucket of the dataset files; undefined: they are in the data folder. */
  readonly bucket: BucketSettings | undefined;
  /** PostgreSQL database of the catalog; undefined: it is in the data folder. */
  readonly database: DatabaseSettings | undefined;
  /** NATS server that stores stream messages; undefined: they are stored in the process. */
  readonly bus: BusSettings | undefined;
  readonly brand: string;
  readonly publishableToken: string;
  readonly secretToken: string;
  readonly encryptionKey: string;
  readonly demo: boolean;
  /** Symbols of the synthetic exchange. */
  readonly demoSymbols: number;
  /** When the synthetic exchange streams: during its session, or always. */
  readonly demoClock: 'always' | 'session';
  readonly zone: string;
  readonly bodyBytesMax: number;
  readonly children: number;
  readonly childMemoryBytes: number;
  readonly cacheBytes: number;
  readonly sqlChildren: number;
  readonly sqlMemoryBytes: number;
  readonly sqlSpillBytes: number;
  readonly sqlTimeoutMs: number;
  readonly sqlCacheBytes: number;
  /** Disk space for answers that one account has not read yet. */
  readonly answerDiskBytes: number;
  readonly drainMs: number;
  readonly ingestMemoryBytes: number;
  readonly readTimeoutMs: number;
  readonly jobTimeoutMs: number;
  readonly jobConcurrency: number;
  readonly logLevel: string;
  readonly tlsCert: string;
  readonly tlsKey: string;
  readonly keepAllMs: number;
  readonly keepHourlyMs: number;
  readonly keepDailyMs: number;
  /** How commits and pushes are handled after the clock went back. */
  readonly clockBack: 'mark' | 'refuse';
  readonly adminToken: string;
  /** Token that reads all metrics; empty: only the admin token does. */
  readonly metricsToken: string;
  /** The server that commands use instead of a data folder: its URL, a token, a PEM file. */
  readonly server: string;
  readonly token: string;
  readonly ca: string;
  readonly metering: boolean;
  readonly journalMonths: number;
  /** `YYYYMM`: charges of later months are ignored. */
  readonly billingMonth: string | undefined;
  readonly rateLimit: boolean;
  readonly trustedProxies: AddressRules;
  /** Port of the test environment; undefined: there is none. */
  readonly sandboxPort: number | undefined;
  readonly streamPort: number | undefined;
  /** Address of the port that serves only /metrics; undefined: the other ports serve it. */
  readonly metricsAddress: ListenAddress | undefined;
  readonly attribution: string;
  /** Origins of pages that may use /mcp, in addition to the server's own. */
  readonly mcpOrigins: ReadonlySet<string>;
  /** Serves the web console under /console. */
  readonly console: boolean;
  /** The mail server: `smtp://user:password@host:port`; '' for none. */
  readonly smtp: string;
  readonly mailFrom: string;
  /** Outgoing requests may reach private addresses. */
  readonly allowPrivateAddresses: boolean;
  /** Undefined: sources read no files; exports write none. */
  readonly sourceFolder: string | undefined;
  readonly exportFolder: string | undefined;
  readonly sourceBytesMax: number;
  readonly fileCheckBytesPerSecond: number;
  readonly sourceTimeoutMs: number;
}

/** Environment variables by name. */
export const environment = (): Readonly<Record<string, string | undefined>> => process.env;

/**
 * Reads and checks all settings.
 * @throws Failure InvalidParameter with the variable and its rule, or with the most similar setting name.
 */
export function readSettings(variables: Readonly<Record<string, string | undefined>>): Settings {
  refuseUnknown(Object.keys(variables));
  refuseHalfTls(variables);
  const text: Text = (name) => variables[name] ?? defaultValue(name);
  const whole: Whole = (name, least, most) => parseWholeNumber(name, text(name), least, most);
  const bucket = parseBucketSettings(
    text('TAPEDECK_DATA'),
    text,
    (name) => variables[name] !== undefined,
    () => whole('TAPEDECK_FILE_CACHE', 1024 ** 2, 1024 ** 2 * GIGABYTE),
  );
  const database = parseDatabaseSettings(text('TAPEDECK_DATABASE'));
  const node = nodeSettings(text);
  const hasKey = text('TAPEDECK_ENCRYPTION_KEY') !== '';
  if (node.standby) checkStandbySettings(database !== undefined && bucket !== undefined && hasKey);
  return {
    bucket,
    database,
    bus: parseBusSettings(text('TAPEDECK_BUS')),
    ...node,
    port: whole('TAPEDECK_PORT', 0, 65535),
    host: text('TAPEDECK_HOST'),
    data: text(bucket === undefined ? 'TAPEDECK_DATA' : 'TAPEDECK_FOLDER'),
    brand: checkPattern(
      'TAPEDECK_BRAND',
      text('TAPEDECK_BRAND'),
      /^[a-z][a-z0-9]{0,31}$/,
      'lower-case letters and digits',
    ),
    fileCheckBytesPerSecond: whole('TAPEDECK_FILE_CHECK', 0, 1024 * GIGABYTE),
    ...engineSettings(text, whole),
    ...sqlSettings(whole),
    ...accountSettings(text, whole),
    ...sourceSettings(text, whole),
  };
}

type Text = (name: SettingName) => string;
type Whole = (name: SettingName, least: number, most: number) => number;

function nodeSettings(text: Text): NodeSettings {
  const role = text('TAPEDECK_ROLE');
  checkPattern('TAPEDECK_ROLE', role, /^(all|api|worker)$/, 'all, api or worker');
  return {
    standby: parseOnOff('TAPEDECK_STANDBY', text('TAPEDECK_STANDBY')),
    role: role === 'api' || role === 'worker' ? role : 'all',
    acceptsRemoteQueries: parseOnOff('TAPEDECK_LEND', text('TAPEDECK_LEND')),
    nodeReads: parseOnOff('TAPEDECK_NODE_READS', text('TAPEDECK_NODE_READS')),
    nodeHost: text('TAPEDECK_NODE_HOST'),
  };
}

type EngineSettings = Omit<
  Settings,
  | 'port'
  | 'host'
  | 'data'
  | 'bucket'
  | 'database'
  | 'bus'
  | 'brand'
  | 'fileCheckBytesPerSecond'
  | keyof NodeSettings
  | keyof AccountSettings
  | keyof SqlSettings
  | keyof SourceSettings
>;

type SqlSettings = Pick<
  Settings,
  | 'sqlChildren'
  | 'sqlMemoryBytes'
  | 'sqlSpillBytes'
  | 'sqlCacheBytes'
  | 'sqlTimeoutMs'
  | 'answerDiskBytes'
  | 'drainMs'
>;

const sqlSettings = (whole: Whole): SqlSettings => ({
  sqlChildren: whole('TAPEDECK_SQL_CHILDREN', 1, 64),
  sqlMemoryBytes: whole('TAPEDECK_SQL_MEMORY', 64 * 1024 ** 2, 1024 * GIGABYTE),
  sqlSpillBytes: whole('TAPEDECK_SQL_SPILL', 1024 ** 2, 1024 ** 2 * GIGABYTE),
  sqlCacheBytes: whole('TAPEDECK_SQL_CACHE', 0, 1024 * GIGABYTE),
  sqlTimeoutMs: whole('TAPEDECK_SQL_TIMEOUT', 100, 3_600_000),
  answerDiskBytes: whole('TAPEDECK_ANSWER_DISK', 1024 ** 2, 1024 ** 2 * GIGABYTE),
  drainMs: whole('TAPEDECK_DRAIN', 1_000, 3_600_000),
});

function engineSettings(text: Text, whole: Whole): EngineSettings {
  return {
    demo: parseOnOff('TAPEDECK_DEMO', text('TAPEDECK_DEMO')),
    demoSymbols: whole('TAPEDECK_DEMO_SYMBOLS', 0, 300),
    demoClock: parseDemoClock(text('TAPEDECK_DEMO_CLOCK')),
    zone: parseZone('TAPEDECK_ZONE', text('TAPEDECK_ZONE')),
    bodyBytesMax: whole('TAPEDECK_BODY_BYTES', 1024, 1024 * GIGABYTE),
    children: whole('TAPEDECK_CHILDREN', 1, 64),
    childMemoryBytes: whole('TAPEDECK_CHILD_MEMORY', 64 * 1024 ** 2, 1024 * GIGABYTE),
    cacheBytes: whole('TAPEDECK_CACHE_BYTES', 0, 1024 * GIGABYTE),
    ingestMemoryBytes: whole('TAPEDECK_INGEST_MEMORY', 128 * 1024 ** 2, 1024 * GIGABYTE),
    readTimeoutMs: whole('TAPEDECK_READ_TIMEOUT', 100, 3_600_000),
    jobTimeoutMs: whole('TAPEDECK_JOB_TIMEOUT', 1000, 7 * 86_400_000),
    jobConcurrency: whole('TAPEDECK_JOBS', 1, 32),
    logLevel: checkPattern(
      'TAPEDECK_LOG',
      text('TAPEDECK_LOG'),
      /^(trace|debug|info|warn|error|silent)$/,
      'one of trace, debug, info, warn, error, silent',
    ),
    tlsCert: text('TAPEDECK_TLS_CERT'),
    tlsKey: text('TAPEDECK_TLS_KEY'),
    keepAllMs: whole('TAPEDECK_KEEP_ALL', 1, 1_000_000) * 3_600_000,
    keepHourlyMs: whole('TAPEDECK_KEEP_HOURLY', 1, 36_500) * 86_400_000,
    keepDailyMs: whole('TAPEDECK_KEEP_DAILY', 1, 36_500) * 86_400_000,
    clockBack: parseClockBack('TAPEDECK_CLOCK_BACK', text('TAPEDECK_CLOCK_BACK')),
  };
}

type AccountSettings = Pick<
  Settings,
  | 'publishableToken'
  | 'secretToken'
  | 'encryptionKey'
  | 'adminToken'
  | 'metricsToken'
  | 'server'
  | 'token'
  | 'ca'
  | 'metering'
  | 'journalMonths'
  | 'billingMonth'
  | 'rateLimit'
  | 'trustedProxies'
  | 'sandboxPort'
  | 'streamPort'
  | 'attribution'
  | 'metricsAddress'
  | 'mcpOrigins'
  | 'console'
>;

function accountSettings(text: Text, whole: Whole): AccountSettings {
  const operatorToken = (name: Parameters<Text>[0]): string =>
    checkPattern(
      name,
      text(name),
      /^(ak_[A-Za-z0-9]{16,128})?$/,
      'ak_ and 16 to 128 letters or digits',
    );
  return {
    publishableToken: checkPattern(
      'TAPEDECK_PUBLISHABLE_TOKEN',
      text('TAPEDECK_PUBLISHABLE_TOKEN'),
      /^(pk_[A-Za-z0-9]{8,128})?$/,
      'pk_ and 8 to 128 letters or digits',
    ),
    secretToken: checkPattern(
      'TAPEDECK_SECRET_TOKEN',
      text('TAPEDECK_SECRET_TOKEN'),
      /^(sk_[A-Za-z0-9]{8,128})?$/,
      'sk_ and 8 to 128 letters or digits',
    ),
    encryptionKey: checkPattern(
      'TAPEDECK_ENCRYPTION_KEY',
      text('TAPEDECK_ENCRYPTION_KEY'),
      /^([0-9a-fA-F]{64})?$/,
      '64 hexadecimal digits',
    ),
    server: text('TAPEDECK_SERVER'),
    token: text('TAPEDECK_TOKEN'),
    ca: text('TAPEDECK_CA'),
    adminToken: operatorToken('TAPEDECK_ADMIN_TOKEN'),
    metricsToken: operatorToken('TAPEDECK_METRICS_TOKEN'),
    metering: parseOnOff('TAPEDECK_METERING', text('TAPEDECK_METERING')),
    journalMonths: whole('TAPEDECK_JOURNAL_MONTHS', 1, 1_200),
    billingMonth:
      checkPattern(
        'TAPEDECK_BILLING_MONTH',
        text('TAPEDECK_BILLING_MONTH'),
        /^(\d{4}(0[1-9]|1[0-2]))?$/,
        'a month as YYYYMM',
      ) || undefined,
    console: parseOnOff('TAPEDECK_CONSOLE', text('TAPEDECK_CONSOLE')),
    rateLimit: parseOnOff('TAPEDECK_RATE_LIMIT', text('TAPEDECK_RATE_LIMIT')),
    trustedProxies: parseAddressList('TAPEDECK_TRUSTED_PROXIES', text('TAPEDECK_TRUSTED_PROXIES')),
    sandboxPort:
      text('TAPEDECK_SANDBOX_PORT') === '' ? undefined : whole('TAPEDECK_SANDBOX_PORT', 0, 65535),
    streamPort:
      text('TAPEDECK_STREAM_PORT') === '' ? undefined : whole('TAPEDECK_STREAM_PORT', 0, 65535),
    metricsAddress: parseListenAddress('TAPEDECK_METRICS_PORT', text('TAPEDECK_METRICS_PORT')),
    mcpOrigins: parseOrigins('TAPEDECK_MCP_ORIGINS', text('TAPEDECK_MCP_ORIGINS')),
    attribution: checkPattern(
      'TAPEDECK_ATTRIBUTION',
      text('TAPEDECK_ATTRIBUTION'),
      /^[ -~]{0,500}$/,
      'at most 500 printable ASCII characters: it is sent as a header',
    ),
  };
}

type SourceSettings = Pick<
  Settings,
  | 'allowPrivateAddresses'
  | 'sourceFolder'
  | 'exportFolder'
  | 'sourceBytesMax'
  | 'sourceTimeoutMs'
  | 'smtp'
  | 'mailFrom'
>;

function sourceSettings(text: Text, whole: Whole): SourceSettings {
  const folder = text('TAPEDECK_SOURCE_FOLDER');
  const exportFolder = text('TAPEDECK_EXPORT_FOLDER');
  const allow = text('TAPEDECK_ALLOW_PRIVATE_ADDRESSES');
  return {
    allowPrivateAddresses: parseOnOff('TAPEDECK_ALLOW_PRIVATE_ADDRESSES', allow),
    sourceFolder: folder === '' ? undefined : folder,
    exportFolder: exportFolder === '' ? undefined : exportFolder,
    sourceBytesMax: whole('TAPEDECK_SOURCE_BYTES', 1, Number.MAX_SAFE_INTEGER),
    sourceTimeoutMs: whole('TAPEDECK_SOURCE_TIMEOUT', 1, 7 * 86_400_000),
    smtp: checkPattern(
      'TAPEDECK_SMTP',
      text('TAPEDECK_SMTP'),
      /^(?:smtps?:\/\/[^\s/?#]{1,500})?$/,
      'smtp://user:password@host:port, or smtps://',
    ),
    mailFrom: checkPattern(
      'TAPEDECK_MAIL_FROM',
      text('TAPEDECK_MAIL_FROM'),
      /^[^\s@<>,;:"]{1,64}@[^\s@<>,;:"]{1,189}$/,
      'one e-mail address',
    ),
  };
}

const defaultValue = (name: SettingName): string =>
  SETTINGS.find((setting) => setting.name === name)?.fallback ?? '';

function refuseUnknown(names: readonly string[]): void {
  const settingNames = new Set<string>(SETTINGS.map((setting) => setting.name));
  for (const name of names) {
    if (!name.startsWith('TAPEDECK_') || settingNames.has(name)) continue;
    const nearest = [...settingNames].sort((a, b) => distance(a, name) - distance(b, name))[0];
    throw new Failure('InvalidParameter', `setting ${name} is not known; did you mean ${nearest}?`);
  }
}

function refuseHalfTls(variables: Readonly<Record<string, string | undefined>>): void {
  const present = ['TAPEDECK_TLS_CERT', 'TAPEDECK_TLS_KEY'].filter((name) => variables[name]);
  if (present.length === 1) {
    const rule = 'TAPEDECK_TLS_CERT and TAPEDECK_TLS_KEY must be set together';
    throw new Failure('InvalidParameter', rule);
  }
}
