// The blocks of all accounts and nodes while a cluster runs: who has to ask, and which calls find none.
import { computeBlockSize, LEASE_MS, MARGIN_MS } from '../../store/ledger/leases/blockSizes.ts';
import { seeded } from '../../test/soak/crash/rounds/seeded.ts';
import { ask, closed, type Held, type Lease } from './blocks.ts';
import { type Policy, type Pool, poolOf, spend } from './blocks.ts';
import type { GoOn, Step } from './network.ts';

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
  /** Whether a question for more is on its way, this one or another. */
  readonly isComing: boolean;
  /** That the node asks now, beside the call. */
  readonly question: Question | undefined;
}

export interface Question {
  /** When it goes. */
  readonly atMs: number;
  /** The message of others that go then has it, too. */
  readonly isBeside: boolean;
  /** It is at the one who leases. */
  readonly heard: (nowMs: number) => void;
  /** Its answer is at the node. */
  readonly answered: (nowMs: number) => void;
}

export interface LeasedQuotas {
  spend(spending: Spending, nowMs: number): Spent;
  /** Until the answer to what is on its way is there, whichever it is, or it took too long. */
  coming(spending: Spending): Step;
  /** When nodes asked, for however many accounts at once. */
  readonly askedMs: readonly number[];
}

/** A block of a node, as it uses it. */
interface Block extends Held {
  /** More is asked for then, or below so much. */
  readonly renewMs: number;
  readonly low: number;
}

/** Of what most accounts have left, nothing is felt. */
const MUCH = 1e12;
/** One account of so many has about ten seconds left of its quota. */
const NEAR_ITS_LIMIT = 50;
const LEFT_MS = 10_000;
const BLOCK_MOST = 100_000;
/** A question goes at once where none went for so long, and with the others at its end where one did. */
const TURN_MS = 5;
/** As long as a call waits at its node. */
const COMING_MOST_MS = 20;
/** A node that got nothing asks again so late. */
const AGAIN_MS = 250;
/** Of each account at each node, at `placeOf`. */
interface State {
  readonly policy: Policy;
  /** By account. */
  readonly pools: Pool[];
  readonly held: (Block | undefined)[];
  readonly leased: (Lease | undefined)[];
  readonly againMs: number[];
  /** Calls that wait for what is on its way, where something is. */
  readonly waiting: (GoOn[] | undefined)[];
  /** By node, when it asks next, or asked last. */
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

/** As if they had run for long: a block is there if it was asked for not long ago. */
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
      const size = computeBlockSize(policy, pool.unleased, need);
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

/** The block, after that many are spent of it. */
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

/** At the one who leases. */
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
    heard: (ms) => {
      const isGone = usable(state, at, 0, ms) === undefined;
      const lease = leaseOf(state, spending, ms);
      block = lease && blockAt(lease, ms);
      held[at] = isGone ? undefined : block;
    },
    answered: (ms) => {
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
