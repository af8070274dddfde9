// A quota of several nodes, leased to them in blocks: a node spends its block without asking, and asks for
// the next one. All of it as pure functions: what a node may spend is never more than was leased to it, what
// was leased is never more than the quota, and what a node does not spend comes back when its lease ends.
import { computeBlockSize, type BlockPolicy } from '../../store/ledger/leases/blockSizes.ts';

export interface Policy extends BlockPolicy {
  readonly leaseMs: number;
  /** A node stops so much earlier than its lease ends: clocks differ. */
  readonly marginMs: number;
}

/** What one node holds. */
export interface Lease {
  readonly node: number;
  readonly messages: number;
  readonly untilMs: number;
}

/** What one who leases knows. */
export interface Pool {
  readonly unleased: number;
  /** At most one a node. */
  readonly leases: readonly Lease[];
}

/** What a node knows. */
export interface Held {
  readonly left: number;
  readonly untilMs: number;
}

interface Asking {
  readonly node: number;
  /** What the call takes. */
  readonly need: number;
  /** What the node has spent of its lease that is known to the pool. */
  readonly spent: number;
}

interface Answer {
  readonly pool: Pool;
  /** Undefined: not now. */
  readonly lease: Lease | undefined;
  /** When others' leases have ended at the latest, if they hold any; undefined: all is spent. */
  readonly againMs: number | undefined;
}

export const poolOf = (quota: number): Pool => ({ unleased: quota, leases: [] });

/** The node's side. Undefined: it must ask. */
export function spend(
  { marginMs }: Policy,
  { left, untilMs }: Held,
  need: number,
  nowMs: number,
): Held | undefined {
  if (left < need || nowMs > untilMs - marginMs) return undefined;
  return { left: left - need, untilMs };
}

/**
 * Leases that have ended come back.
 * @param spentOf what the books say that was spent of one, whether or not its node still lives
 */
export function closed(pool: Pool, nowMs: number, spentOf: (lease: Lease) => number): Pool {
  const over = pool.leases.filter(({ untilMs }) => untilMs <= nowMs);
  if (over.length === 0) return pool;
  const back = over.reduce((sum, lease) => sum + lease.messages - spentOf(lease), 0);
  const leases = pool.leases.filter(({ untilMs }) => untilMs > nowMs);
  return { unleased: pool.unleased + back, leases };
}

/** A node gives back what it has, and takes the next block; ended leases are closed before. */
export function ask(policy: Policy, pool: Pool, asking: Asking, nowMs: number): Answer {
  const { need, node, spent } = asking;
  const own = pool.leases.find((lease) => lease.node === node);
  const others = pool.leases.filter((lease) => lease.node !== node);
  const unleased = pool.unleased + (own === undefined ? 0 : own.messages - spent);
  const size = Math.min(unleased, computeBlockSize(policy, unleased, need));
  if (size < need) {
    const againMs = others.reduce<number | undefined>(
      (latest, { untilMs }) => Math.max(latest ?? 0, untilMs),
      undefined,
    );
    return { pool: { unleased, leases: others }, lease: undefined, againMs };
  }
  const lease = { node, messages: size, untilMs: nowMs + policy.leaseMs };
  const leases = [...others, lease];
  return { pool: { unleased: unleased - size, leases }, lease, againMs: undefined };
}
