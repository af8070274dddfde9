// What an account may do, as data (INTERFACE.md 3.8). Later members join here, not in code.

export interface Tier {
  readonly name: string;
  readonly messagesMonthly: number;
  readonly datasetsMax: number;
  /** Records of one answer; a request for more gets this many. */
  readonly rowsMax: number;
}

const TIERS: readonly Tier[] = [
  { name: 'free', messagesMonthly: 50_000, datasetsMax: 5, rowsMax: 1_000 },
  { name: 'launch', messagesMonthly: 5_000_000, datasetsMax: 20, rowsMax: 1_000 },
  { name: 'grow', messagesMonthly: 100_000_000, datasetsMax: 100, rowsMax: 1_000 },
  { name: 'scale', messagesMonthly: 1_000_000_000, datasetsMax: 5_000, rowsMax: 10_000 },
];

const FREE: Tier = { name: 'free', messagesMonthly: 0, datasetsMax: 0, rowsMax: 1_000 };

/** The tier of that name; an account with a name that no longer exists may do nothing metered. */
export const tierOf = (name: string): Tier => TIERS.find((tier) => tier.name === name) ?? FREE;
