// Quota blocks of all accounts and nodes in a running cluster: which nodes request quota, and which calls
// have none.
import { computeBlockSize, LEASE_MS, MARGIN_MS } from '../../store/ledger/leases/blockSizes.ts';
import { seeded } from '../../test/soak/crash/rounds/seeded.ts';
import { requestLease, closeLeases, type NodeBlock, type Lease } from './blocks.ts';
import { type Policy, type Pool, newPool, spend } from './blocks.ts';
import type { GoOn, Step } from './network.ts';

interface Quotas {
  readonly nodes: number;
  /** Calls per account and node in a millisecond. */
  readonly rates: readonly number[];
  /** Messages of a typical call. */
  readonly need: number;
  readonly seed: number;
}

interface SpendRequest {
  readonly account: number;
  /** Never the first node, which needs no leases. */
  readonly node: number;
  readonly need: number;
}

interface SpendResult {
  /** Whether the node has enough quota for the call. */
  readonly isEnough: boolean;
  /** Whether a request for more is in flight. */
  readonly isPending: boolean;
  /** Request that the node sends now, beside the call. */
  readonly quotaRequest: QuotaRequest | undefined;
}

export interface QuotaRequest {
  /** Time at which it is sent. */
  readonly atMs: number;
  /** Whether it shares the message of another request. */
  readonly isBeside: boolean;
  /** Called when it reaches the lessor. */
  readonly reached: (nowMs: number) => void;
  /** Called when the node receives the answer. */
  readonly received: (nowMs: number) => void;
}

export interface LeasedQuotas {
  spend(spendRequest: SpendRequest, nowMs: number): SpendResult;
  /** Waits for the answer to the request in flight, or until the wait times out. */
  waitForQuota(spendRequest: SpendRequest): Step;
  /** Times at which nodes sent a message with requests. */
  readonly requestTimesMs: readonly number[];
}

/** Block of a node in use. */
interface Block extends NodeBlock {
  /** More is requested after this time or below this amount. */
  readonly renewMs: number;
  readonly low: number;
}

/** Remaining quota of most accounts, which is never exhausted. */
const UNLIMITED = 1e12;
/** One of this many accounts has about ten seconds of quota left. */
const NEAR_ITS_LIMIT = 50;
const LEFT_MS = 10_000;
const BLOCK_MOST = 100_000;
/**
 * A request is sent immediately if none was sent for this long, otherwise together with others at its end.
 */
const MESSAGE_INTERVAL_MS = 5;
/** Maximum wait of a call at its node. */
const QUOTA_WAIT_MS = 20;
/** Retry delay of a node that got no quota. */
const RETRY_DELAY_MS = 250;
/** State of each account at each node, indexed by `placeOf`. */
interface State {
  readonly policy: Policy;
  /** By account. */
  readonly pools: Pool[];
  readonly blocks: (Block | undefined)[];
  readonly leased: (Lease | undefined)[];
  readonly againMs: number[];
  /** Calls that wait for a request in flight; undefined if there is none. */
  readonly waiting: (GoOn[] | undefined)[];
  /** Time of the next or last message by node. */
  readonly messageTimesMs: number[];
}

const placeOf = ({ policy }: State, { account, node }: Omit<SpendRequest, 'need'>): number =>
  account * policy.nodes + node;

export function leasedQuotas(quotas: Quotas): LeasedQuotas {
  const state = initialState(quotas);
  const { againMs, blocks, waiting } = state;
  const requestTimesMs: number[] = [];
  return {
    requestTimesMs,
    spend: (spendRequest, nowMs) => {
      const at = placeOf(state, spendRequest);
      const own = usable(state, at, spendRequest.need, nowMs);
      if (own !== undefined) blocks[at] = own;
      const isEnough = own !== undefined;
      if (waiting[at] !== undefined) return { isEnough, isPending: true, quotaRequest: undefined };
      const isLow = own === undefined || nowMs > own.renewMs || own.left < own.low;
      const sendsRequest = isLow && nowMs >= (againMs[at] ?? 0);
      const quotaRequest = sendsRequest ? buildRequest(state, spendRequest, nowMs) : undefined;
      if (quotaRequest?.isBeside === false) requestTimesMs.push(quotaRequest.atMs);
      return { isEnough, isPending: sendsRequest, quotaRequest };
    },
    waitForQuota: (spendRequest) => ({
      until: (goOn) => void waiting[placeOf(state, spendRequest)]?.push(goOn),
      mostMs: QUOTA_WAIT_MS,
    }),
  };
}

/** Initial steady state: a node has a block if it requested one recently. */
function initialState({ need, nodes, rates, seed }: Quotas): State {
  const policy: Policy = { nodes, blockMost: BLOCK_MOST, leaseMs: LEASE_MS, marginMs: MARGIN_MS };
  const random = seeded(seed);
  const pools = rates.map((rate, account) => {
    const isNear = account % NEAR_ITS_LIMIT === NEAR_ITS_LIMIT - 1;
    return newPool(isNear ? Math.floor(rate * nodes * need * LEFT_MS * random.next()) : UNLIMITED);
  });
  const blocks = Array.from({ length: rates.length * nodes }, (): Block | undefined => undefined);
  const leased = blocks.map((): Lease | undefined => undefined);
  const state = { policy, pools, blocks, leased, againMs: [], waiting: [], messageTimesMs: [] };
  for (const [account, rate] of rates.entries()) {
    for (let node = 1; node < nodes; node += 1) {
      const pool = pools[account] ?? newPool(0);
      const size = computeBlockSize(policy, pool.unleased, need);
      if (!random.chance(1 - Math.exp(-rate * (LEASE_MS - MARGIN_MS))) || size > pool.unleased)
        continue;
      const renewMs = (random.next() * LEASE_MS) / 2;
      const lease = { node, messages: size, untilMs: renewMs + LEASE_MS / 2 };
      const at = placeOf(state, { account, node });
      leased[at] = lease;
      blocks[at] = { ...blockAt(lease, 0), renewMs };
      pools[account] = { unleased: pool.unleased - size, leases: [...pool.leases, lease] };
    }
  }
  return state;
}

/** Returns the block after spending the messages; undefined if it has too few. */
function usable(
  { blocks, policy }: State,
  at: number,
  need: number,
  nowMs: number,
): Block | undefined {
  const block = blocks[at];
  const after = block && spend(policy, block, need, nowMs);
  return block && after && { ...block, left: after.left };
}

/** Leases a block at the lessor. */
function leaseBlock(
  state: State,
  { account, need, node }: SpendRequest,
  nowMs: number,
): Lease | undefined {
  const { againMs, blocks, leased, policy, pools } = state;
  const at = placeOf(state, { account, node });
  const measureSpent = ({ messages, node: holder }: Lease): number =>
    messages - (blocks[placeOf(state, { account, node: holder })]?.left ?? messages);
  const pool = closeLeases(pools[account] ?? newPool(0), nowMs, measureSpent);
  const before = leased[at];
  const spent = before === undefined ? 0 : measureSpent(before);
  const answer = requestLease(policy, pool, { node, need, spent }, nowMs);
  pools[account] = answer.pool;
  leased[at] = answer.lease;
  if (answer.lease === undefined) againMs[at] = nowMs + RETRY_DELAY_MS;
  return answer.lease;
}

function buildRequest(state: State, spendRequest: SpendRequest, nowMs: number): QuotaRequest {
  const { blocks, messageTimesMs, waiting } = state;
  const { node } = spendRequest;
  const at = placeOf(state, spendRequest);
  waiting[at] = [];
  const messageTimeMs = messageTimesMs[node] ?? -Infinity;
  const isBeside = messageTimeMs > nowMs;
  const atMs = isBeside ? messageTimeMs : Math.max(nowMs, messageTimeMs + MESSAGE_INTERVAL_MS);
  messageTimesMs[node] = atMs;
  let block: Block | undefined;
  return {
    atMs,
    isBeside,
    reached: (ms) => {
      const isUsedUp = usable(state, at, 0, ms) === undefined;
      const lease = leaseBlock(state, spendRequest, ms);
      block = lease && blockAt(lease, ms);
      blocks[at] = isUsedUp ? undefined : block;
    },
    received: (ms) => {
      blocks[at] ??= block;
      const calls = waiting[at] ?? [];
      waiting[at] = undefined;
      for (const goOn of calls) goOn(ms);
    },
  };
}

const blockAt = ({ messages: left, untilMs }: Lease, nowMs: number): Block => ({
  left,
  untilMs,
  low: Math.floor(left / 2),
  renewMs: nowMs + LEASE_MS / 2,
});
