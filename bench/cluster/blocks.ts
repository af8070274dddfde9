// Quota of several nodes, leased to them in blocks, as pure functions. A node spends its block without
// requests and requests the next one. A node never spends more than its lease, leases never exceed the quota,
// and unspent quota returns when the lease ends.
import { computeBlockSize, type BlockPolicy } from '../../store/ledger/leases/blockSizes.ts';

export interface Policy extends BlockPolicy {
  readonly leaseMs: number;
  /** A node stops this much earlier than its lease ends, because clocks differ. */
  readonly marginMs: number;
}

/** Lease of one node. */
export interface Lease {
  readonly node: number;
  readonly messages: number;
  readonly untilMs: number;
}

/** State of the lessor. */
export interface Pool {
  readonly unleased: number;
  /** At most one per node. */
  readonly leases: readonly Lease[];
}

/** State of a node. */
export interface NodeBlock {
  readonly left: number;
  readonly untilMs: number;
}

interface LeaseRequest {
  readonly node: number;
  /** Messages of the call. */
  readonly need: number;
  /** Messages that the node has spent of its lease. */
  readonly spent: number;
}

interface Answer {
  readonly pool: Pool;
  /** Undefined if no quota is available now. */
  readonly lease: Lease | undefined;
  /** Latest end of the leases of other nodes; undefined if there are none and all quota is spent. */
  readonly againMs: number | undefined;
}

export const newPool = (quota: number): Pool => ({ unleased: quota, leases: [] });

/** Spends quota at the node; undefined if the node must request more. */
export function spend(
  { marginMs }: Policy,
  { left, untilMs }: NodeBlock,
  need: number,
  nowMs: number,
): NodeBlock | undefined {
  if (left < need || nowMs > untilMs - marginMs) return undefined;
  return { left: left - need, untilMs };
}

/**
 * Returns unspent quota of ended leases to the pool.
 * @param spentOf messages spent of a lease by the ledger, whether or not its node still runs
 */
export function closeLeases(
  pool: Pool,
  nowMs: number,
  measureSpent: (lease: Lease) => number,
): Pool {
  const endedLeases = pool.leases.filter(({ untilMs }) => untilMs <= nowMs);
  if (endedLeases.length === 0) return pool;
  const returned = endedLeases.reduce(
    (sum, lease) => sum + lease.messages - measureSpent(lease),
    0,
  );
  const leases = pool.leases.filter(({ untilMs }) => untilMs > nowMs);
  return { unleased: pool.unleased + returned, leases };
}

/** Replaces the block of a node by the next one; ended leases must be closed before. */
export function requestLease(
  policy: Policy,
  pool: Pool,
  request: LeaseRequest,
  nowMs: number,
): Answer {
  const { need, node, spent } = request;
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
