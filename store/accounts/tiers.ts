// The tiers and their limits, as data (INTERFACE.md 3.8). New limits are added here, not in code.

const GIGABYTE = 1024 ** 3;

/** Limits of one SQL query; the server's settings may be lower. */
interface SqlAllowance {
  /** Rows of a result: a longer one is truncated, and marked as truncated. */
  readonly rowsMax: number;
  readonly deadlineMs: number;
  readonly memoryBytes: number;
  readonly spillBytes: number;
  /** Total time of failed queries in a minute after which further ones are refused (429). */
  readonly failedMsPerMinute: number;
}

const SQL_SMALL: SqlAllowance = {
  rowsMax: 1_000,
  deadlineMs: 10_000,
  memoryBytes: GIGABYTE / 4,
  spillBytes: GIGABYTE / 2,
  failedMsPerMinute: 20_000,
};
const SQL_MIDDLE: SqlAllowance = {
  rowsMax: 10_000,
  deadlineMs: 30_000,
  memoryBytes: GIGABYTE / 2,
  spillBytes: 2 * GIGABYTE,
  failedMsPerMinute: 60_000,
};
const SQL_LARGE: SqlAllowance = {
  rowsMax: 100_000,
  deadlineMs: 60_000,
  memoryBytes: GIGABYTE,
  spillBytes: 8 * GIGABYTE,
  failedMsPerMinute: 120_000,
};
const SQL_LARGEST: SqlAllowance = {
  rowsMax: 5_000_000,
  deadlineMs: 300_000,
  memoryBytes: 4 * GIGABYTE,
  spillBytes: 64 * GIGABYTE,
  failedMsPerMinute: 600_000,
};

export interface Tier {
  readonly name: string;
  readonly messagesMonthly: number;
  /** Whether messages above the quota can be bought at all. */
  readonly payAsYouGo: boolean;
  /** Tokens of an account, without its two test tokens. */
  readonly tokensMax: number;
  readonly datasetsMax: number;
  readonly storageBytesMax: number;
  /** Requests of one token in one second. */
  readonly requestsPerSecond: number;
  /** Records of one answer; a request for more returns this many. */
  readonly rowsMax: number;
  readonly sql: SqlAllowance;
  /** Signed tokens (SPEC.md "Account"). */
  readonly signing: boolean;
  /** Streams, and streams of all symbols (SPEC.md "SSE streaming endpoints"). */
  readonly streaming: boolean;
  readonly firehose: boolean;
}

/** From the smallest to the largest. */
const TIERS: readonly Tier[] = [
  {
    name: 'free',
    messagesMonthly: 50_000,
    payAsYouGo: false,
    tokensMax: 2,
    datasetsMax: 5,
    storageBytesMax: 5 * GIGABYTE,
    requestsPerSecond: 50,
    rowsMax: 1_000,
    sql: SQL_SMALL,
    signing: false,
    streaming: false,
    firehose: false,
  },
  {
    name: 'launch',
    messagesMonthly: 5_000_000,
    payAsYouGo: true,
    tokensMax: 2,
    datasetsMax: 20,
    storageBytesMax: 10 * GIGABYTE,
    requestsPerSecond: 100,
    rowsMax: 1_000,
    sql: SQL_MIDDLE,
    signing: false,
    streaming: true,
    firehose: false,
  },
  {
    name: 'grow',
    messagesMonthly: 100_000_000,
    payAsYouGo: true,
    tokensMax: 50,
    datasetsMax: 100,
    storageBytesMax: 250 * GIGABYTE,
    requestsPerSecond: 500,
    rowsMax: 1_000,
    sql: SQL_LARGE,
    signing: true,
    streaming: true,
    firehose: false,
  },
  {
    name: 'scale',
    messagesMonthly: 1_000_000_000,
    payAsYouGo: true,
    tokensMax: 1_000,
    datasetsMax: 5_000,
    storageBytesMax: 4_096 * GIGABYTE,
    requestsPerSecond: 2_000,
    rowsMax: 10_000,
    sql: SQL_LARGEST,
    signing: true,
    streaming: true,
    firehose: true,
  },
];

const NO_TIER: Tier = {
  name: 'none',
  messagesMonthly: 0,
  payAsYouGo: false,
  tokensMax: 0,
  datasetsMax: 0,
  storageBytesMax: 0,
  requestsPerSecond: 10,
  rowsMax: 1_000,
  sql: SQL_SMALL,
  signing: false,
  streaming: false,
  firehose: false,
};

export const TIER_NAMES: readonly string[] = TIERS.map(({ name }) => name);

/** The tier of that name. A tier that no longer exists allows nothing that is metered. */
export const findTier = (name: string): Tier => TIERS.find((tier) => tier.name === name) ?? NO_TIER;

/** Whether `tier` is the named tier or a larger one. */
export const reachesTier = (tier: Tier, least: string): boolean =>
  TIER_NAMES.indexOf(tier.name) >= TIER_NAMES.indexOf(least);
