// The blocks of all accounts and nodes while a cluster runs: who has to ask, and which calls find none.
import { blockOf, LEASE_MS, MARGIN_MS } from '../../store/leases/blockSizes.ts';
import { seeded } from '../../test/crash/rounds/seeded.ts';
import { ask, closed, type Held, type Lease } from './blocks.ts';
import { type Policy, poolOf, spend } from './blocks.ts';

interface Quotas {
  readonly nodes: number;
  /** Calls of an account at one node, a millisecond. */
  readonly rates: readonly number[];
  /** Messages of most calls. */
  readonly need: number;
  readonly seed: number;
}

interface Spending {
  readonly account: number;
  /** Not the first one, which asks nobody. */
  readonly node: number;
  readonly need: number;
}

interface Spent {
  /** Whether the node has what the call takes. */
  readonly isHere: boolean;
  /** Whether it asks for more, beside the call. */
  readonly asks: boolean;
}

export interface LeasedQuotas {
  spend(spending: Spending, nowMs: number): Spent;
  /** When nodes asked. */
  readonly askedMs: readonly number[];
}

/** A block of a node, as it uses it. */
interface Block extends Held {
  /** When it has come. */
  readonly fromMs: number;
  /** More is asked for then, or below so much. */
  readonly renewMs: number;
  readonly low: number;
  readonly usedMs: number;
}

/** Of what most accounts have left, nothing is felt. */
const MUCH = 1e12;
/** One account of so many has about ten seconds left of its quota. */
const NEAR_ITS_LIMIT = 50;
const LEFT_MS = 10_000;
const BLOCK_MOST = 100_000;
/** Questions go together every 5 ms, and are answered after a way there and back. */
const ANSWER_MS = 3;
/** A node that got nothing asks again so late. */
const AGAIN_MS = 250;
/** What nobody uses for a second goes home, as is found out every quarter of one. */
const IDLE_MS = 1_125;

export function leasedQuotas({ need, nodes, rates, seed }: Quotas): LeasedQuotas {
  const policy: Policy = { nodes, blockMost: BLOCK_MOST, leaseMs: LEASE_MS, marginMs: MARGIN_MS };
  const random = seeded(seed);
  const pools = rates.map((rate, account) => {
    const isNear = account % NEAR_ITS_LIMIT === NEAR_ITS_LIMIT - 1;
    return poolOf(isNear ? Math.floor(rate * nodes * need * LEFT_MS * random.next()) : MUCH);
  });
  const places = rates.length * nodes;
  const held: (Block | undefined)[] = Array.from({ length: places }, () => undefined);
  const leased: (Lease | undefined)[] = Array.from({ length: places }, () => undefined);
  const againMs: number[] = [];
  const askedMs: number[] = [];
  const place = (account: number, node: number): number => account * nodes + node;
  // As if they had run for long: a block is there if its account's last call was not long ago.
  for (const [account, rate] of rates.entries()) {
    for (let node = 1; node < nodes; node += 1) {
      const pool = pools[account] ?? poolOf(0);
      const size = blockOf(policy, pool.unleased, need);
      if (!random.chance(1 - Math.exp(-rate * IDLE_MS)) || size > pool.unleased) continue;
      const renewMs = (random.next() * LEASE_MS) / 2;
      const lease = { node, messages: size, untilMs: renewMs + LEASE_MS / 2 };
      const at = place(account, node);
      leased[at] = lease;
      held[at] = { ...blockAt(size, lease.untilMs, 0), renewMs };
      pools[account] = { unleased: pool.unleased - size, leases: [...pool.leases, lease] };
    }
  }
  const asked = (spending: Spending, nowMs: number, before?: Block): void => {
    const { account, need: wanted, node } = spending;
    const at = place(account, node);
    const spentOf = ({ messages, node: holder }: Lease): number =>
      messages - (held[place(account, holder)]?.left ?? messages);
    const pool = closed(pools[account] ?? poolOf(0), nowMs, spentOf);
    const lease = leased[at];
    const spent = lease === undefined ? 0 : spentOf(lease);
    const answer = ask(policy, pool, { node, need: wanted, spent }, nowMs);
    pools[account] = answer.pool;
    leased[at] = answer.lease;
    held[at] = answer.lease && blockAt(answer.lease.messages, answer.lease.untilMs, nowMs, before);
    if (answer.lease === undefined) againMs[at] = nowMs + AGAIN_MS;
    askedMs.push(nowMs);
  };
  return {
    askedMs,
    spend: (spending, nowMs) => {
      const at = place(spending.account, spending.node);
      const block = held[at];
      const isIdle = block !== undefined && nowMs - block.usedMs > IDLE_MS;
      const after = block && !isIdle ? spend(policy, block, spending.need, nowMs) : undefined;
      // What is on its way was asked for already.
      if (block !== undefined && nowMs < block.fromMs) return { isHere: false, asks: false };
      const own = block && after && { ...block, left: after.left, usedMs: nowMs };
      if (own !== undefined) held[at] = own;
      const isLow = own === undefined || nowMs > own.renewMs || own.left < own.low;
      const asks = isLow && nowMs >= (againMs[at] ?? 0);
      if (asks) asked(spending, nowMs, own);
      return { isHere: own !== undefined, asks };
    },
  };
}

/** @param before what the node has meanwhile */
const blockAt = (left: number, untilMs: number, nowMs: number, before?: Block): Block => ({
  ...{ left, untilMs, usedMs: nowMs, low: Math.floor(left / 2), renewMs: nowMs + LEASE_MS / 2 },
  fromMs: before?.fromMs ?? nowMs + ANSWER_MS,
});
