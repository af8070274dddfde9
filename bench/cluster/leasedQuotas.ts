// The blocks of all accounts and nodes while a cluster runs: who has to ask before a call.
import { blockOf } from '../../store/leases/blockSizes.ts';
import { seeded } from '../../test/crash/rounds/seeded.ts';
import { ask, closed, type Held, type Lease } from './blocks.ts';
import { type Policy, type Pool, poolOf, spend } from './blocks.ts';

interface Quotas {
  readonly policy: Policy;
  /** Calls of an account at one node, a millisecond. */
  readonly rates: readonly number[];
  /** Messages of most calls. */
  readonly need: number;
  readonly seed: number;
}

interface Spending {
  readonly account: number;
  readonly node: number;
  readonly need: number;
}

export interface LeasedQuotas {
  /** Whether the node has to ask first; a call over the quota is answered as well, by a refusal. */
  spend(spending: Spending, nowMs: number): boolean;
  /** When nodes asked. */
  readonly askedMs: readonly number[];
}

/** Of what most accounts have left, nothing is felt. */
const MUCH = 1e12;
/** One account of so many has about ten seconds left of its quota. */
const NEAR_ITS_LIMIT = 50;
const LEFT_MS = 10_000;

export function leasedQuotas({ need, policy, rates, seed }: Quotas): LeasedQuotas {
  const random = seeded(seed);
  const pools: Pool[] = rates.map((rate, account) => {
    const isNear = account % NEAR_ITS_LIMIT === NEAR_ITS_LIMIT - 1;
    const left = rate * policy.nodes * need * LEFT_MS * random.next();
    return poolOf(isNear ? Math.floor(left) : MUCH);
  });
  const places = rates.length * policy.nodes;
  const held: (Held | undefined)[] = Array.from({ length: places }, () => undefined);
  const leased: (Lease | undefined)[] = Array.from({ length: places }, () => undefined);
  const askedMs: number[] = [];
  const place = (account: number, node: number): number => account * policy.nodes + node;
  // As if they had run for long: who asks seldom may have a lease, of whatever age.
  for (const [account, rate] of rates.entries()) {
    for (let node = 0; node < policy.nodes; node += 1) {
      const pool = pools[account] ?? poolOf(0);
      const isHeld = random.chance(policy.leaseMs / (policy.leaseMs + 1 / rate));
      const size = blockOf(policy, pool.unleased, need);
      if (!isHeld || size > pool.unleased) continue;
      const lease = { node, messages: size, untilMs: random.next() * policy.leaseMs };
      const at = place(account, node);
      leased[at] = lease;
      held[at] = { left: Math.floor(size * random.next()), untilMs: lease.untilMs };
      pools[account] = { unleased: pool.unleased - size, leases: [...pool.leases, lease] };
    }
  }
  return {
    askedMs,
    spend: ({ account, need: wanted, node }, nowMs) => {
      const at = place(account, node);
      const own = held[at];
      const after = own && spend(policy, own, wanted, nowMs);
      if (after !== undefined) {
        held[at] = after;
        return false;
      }
      const spentOf = ({ messages, node: holder }: Lease): number =>
        messages - (held[place(account, holder)]?.left ?? messages);
      const pool = closed(pools[account] ?? poolOf(0), nowMs, spentOf);
      const lease = leased[at];
      const spent = lease === undefined ? 0 : spentOf(lease);
      const answer = ask(policy, pool, { node, need: wanted, spent }, nowMs);
      pools[account] = answer.pool;
      leased[at] = answer.lease;
      held[at] = answer.lease && {
        left: answer.lease.messages - wanted,
        untilMs: answer.lease.untilMs,
      };
      askedMs.push(nowMs);
      return true;
    },
  };
}
