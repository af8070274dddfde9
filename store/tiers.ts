// What an account may do, as data (INTERFACE.md 3.8). Later members join here, not in code.

const GIGABYTE = 1024 ** 3;

export interface Tier {
  readonly name: string;
  readonly messagesMonthly: number;
  /** Whether messages above the quota can be bought at all. */
  readonly payAsYouGo: boolean;
  /** Tokens of an account, without its two test tokens. */
  readonly tokensMax: number;
  readonly datasetsMax: number;
  readonly storageBytesMax: number;
  /** Requests of one token in a second. */
  readonly requestsPerSecond: number;
  /** Records of one answer; a request for more gets this many. */
  readonly rowsMax: number;
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
    signing: true,
    streaming: true,
    firehose: true,
  },
];

const NOTHING: Tier = {
  name: 'none',
  messagesMonthly: 0,
  payAsYouGo: false,
  tokensMax: 0,
  datasetsMax: 0,
  storageBytesMax: 0,
  requestsPerSecond: 10,
  rowsMax: 1_000,
  signing: false,
  streaming: false,
  firehose: false,
};

export const TIER_NAMES: readonly string[] = TIERS.map(({ name }) => name);

/** The tier of that name; an account with a name that no longer exists may do nothing metered. */
export const tierOf = (name: string): Tier => TIERS.find((tier) => tier.name === name) ?? NOTHING;

/** True when `tier` is the named one or a larger one. */
export const reachesTier = (tier: Tier, least: string): boolean =>
  TIER_NAMES.indexOf(tier.name) >= TIER_NAMES.indexOf(least);
