// Quota blocks of all accounts and nodes in a running cluster: which nodes request quota, and which calls have
// none.
import { blockOf, LEASE_MS, MARGIN_MS } from '../../store/ledger/leases/blockSizes.ts';
import { seeded } from '../../test/soak/crash/rounds/seeded.ts';
import { ask, closed, type Held, type Lease } from './blocks.ts';
import { type Policy, type Pool, poolOf, spend } from './blocks.ts';
import type { GoOn, Step } from './network.ts';

interface Quotas {
  readonly nodes: number;
  /** Calls per account and node in a millisecond. */
  readonly rates: readonly number[];
  /** Messages of a typical call. */
  readonly need: number;
  readonly seed: number;
}

interface Spending {
  readonly account: number;
  /** Never the first node, which needs no leases. */
  readonly node: number;
  readonly need: number;
}

interface Spent {
  /** Whether the node has enough quota for the call. */
  readonly isHere: boolean;
  /** Whether a request for more is in flight. */
  readonly isComing: boolean;
  /** Request that the node sends now, beside the call. */
  readonly question: Question | undefined;
}

export interface Question {
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
  spend(spending: Spending, nowMs: number): Spent;
  /** Waits for the answer to the request in flight, or until the wait times out. */
  coming(spending: Spending): Step;
  /** Times at which nodes sent a message with requests. */
  readonly askedMs: readonly number[];
}

/** Block of a node in use. */
interface Block extends Held {
  /** More is requested after this time or below this amount. */
  readonly renewMs: number;
  readonly low: number;
}

/** Remaining quota of most accounts, which is never exhausted. */
const MUCH = 1e12;
/** One of this many accounts has about ten seconds of quota left. */
const NEAR_ITS_LIMIT = 50;
const LEFT_MS = 10_000;
const BLOCK_MOST = 100_000;
/** A request is sent immediately if none was sent for this long, otherwise together with others at its end. */
const TURN_MS = 5;
/** Maximum wait of a call at its node. */
const COMING_MOST_MS = 20;
/** Retry delay of a node that got no quota. */
const AGAIN_MS = 250;
/** State of each account at each node, indexed by `placeOf`. */
interface State {
  readonly policy: Policy;
  /** By account. */
  readonly pools: Pool[];
  readonly held: (Block | undefined)[];
  readonly leased: (Lease | undefined)[];
  readonly againMs: number[];
  /** Calls that wait for a request in flight; undefined if there is none. */
  readonly waiting: (GoOn[] | undefined)[];
  /** Time of the next or last message by node. */
  readonly turnsMs: number[];
}

const placeOf = ({ policy }: State, { account, node }: Omit<Spending, 'need'>): number =>
  account * policy.nodes + node;

export function leasedQuotas(quotas: Quotas): LeasedQuotas {
  const state = begun(quotas);
  const { againMs, held, waiting } = state;
  const askedMs: number[] = [];
  return {
    askedMs,
    spend: (spending, nowMs) => {
      const at = placeOf(state, spending);
      const own = usable(state, at, spending.need, nowMs);
      if (own !== undefined) held[at] = own;
      const isHere = own !== undefined;
      if (waiting[at] !== undefined) return { isHere, isComing: true, question: undefined };
      const isLow = own === undefined || nowMs > own.renewMs || own.left < own.low;
      const asks = isLow && nowMs >= (againMs[at] ?? 0);
      const question = asks ? questionOf(state, spending, nowMs) : undefined;
      if (question?.isBeside === false) askedMs.push(question.atMs);
      return { isHere, isComing: asks, question };
    },
    coming: (spending) => ({
      until: (goOn) => void waiting[placeOf(state, spending)]?.push(goOn),
      mostMs: COMING_MOST_MS,
    }),
  };
}

/** Initial steady state: a node has a block if it requested one recently. */
function begun({ need, nodes, rates, seed }: Quotas): State {
  const policy: Policy = { nodes, blockMost: BLOCK_MOST, leaseMs: LEASE_MS, marginMs: MARGIN_MS };
  const random = seeded(seed);
  const pools = rates.map((rate, account) => {
    const isNear = account % NEAR_ITS_LIMIT === NEAR_ITS_LIMIT - 1;
    return poolOf(isNear ? Math.floor(rate * nodes * need * LEFT_MS * random.next()) : MUCH);
  });
  const held = Array.from({ length: rates.length * nodes }, (): Block | undefined => undefined);
  const leased = held.map((): Lease | undefined => undefined);
  const state = { policy, pools, held, leased, againMs: [], waiting: [], turnsMs: [] };
  for (const [account, rate] of rates.entries()) {
    for (let node = 1; node < nodes; node += 1) {
      const pool = pools[account] ?? poolOf(0);
      const size = blockOf(policy, pool.unleased, need);
      if (!random.chance(1 - Math.exp(-rate * (LEASE_MS - MARGIN_MS))) || size > pool.unleased)
        continue;
      const renewMs = (random.next() * LEASE_MS) / 2;
      const lease = { node, messages: size, untilMs: renewMs + LEASE_MS / 2 };
      const at = placeOf(state, { account, node });
      leased[at] = lease;
      held[at] = { ...blockAt(lease, 0), renewMs };
      pools[account] = { unleased: pool.unleased - size, leases: [...pool.leases, lease] };
    }
  }
  return state;
}

/** Returns the block after spending the messages; undefined if it has too few. */
function usable(
  { held, policy }: State,
  at: number,
  need: number,
  nowMs: number,
): Block | undefined {
  const block = held[at];
  const after = block && spend(policy, block, need, nowMs);
  return block && after && { ...block, left: after.left };
}

/** Leases a block at the lessor. */
function leaseOf(
  state: State,
  { account, need, node }: Spending,
  nowMs: number,
): Lease | undefined {
  const { againMs, held, leased, policy, pools } = state;
  const at = placeOf(state, { account, node });
  const spentOf = ({ messages, node: holder }: Lease): number =>
    messages - (held[placeOf(state, { account, node: holder })]?.left ?? messages);
  const pool = closed(pools[account] ?? poolOf(0), nowMs, spentOf);
  const before = leased[at];
  const spent = before === undefined ? 0 : spentOf(before);
  const answer = ask(policy, pool, { node, need, spent }, nowMs);
  pools[account] = answer.pool;
  leased[at] = answer.lease;
  if (answer.lease === undefined) againMs[at] = nowMs + AGAIN_MS;
  return answer.lease;
}

function questionOf(state: State, spending: Spending, nowMs: number): Question {
  const { held, turnsMs, waiting } = state;
  const { node } = spending;
  const at = placeOf(state, spending);
  waiting[at] = [];
  const turnMs = turnsMs[node] ?? -Infinity;
  const isBeside = turnMs > nowMs;
  const atMs = isBeside ? turnMs : Math.max(nowMs, turnMs + TURN_MS);
  turnsMs[node] = atMs;
  let block: Block | undefined;
  return {
    atMs,
    isBeside,
    reached: (ms) => {
      const isGone = usable(state, at, 0, ms) === undefined;
      const lease = leaseOf(state, spending, ms);
      block = lease && blockAt(lease, ms);
      held[at] = isGone ? undefined : block;
    },
    received: (ms) => {
      held[at] ??= block;
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
