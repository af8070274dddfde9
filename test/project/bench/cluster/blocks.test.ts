// Blocks of a quota in random games: nodes spend and request messages, fail, and have different clocks. No
// message is spent above the quota, and no node holds unused messages for longer than its lease.
import { expect, test } from 'vitest';
import {
  requestLease,
  closeLeases,
  type NodeBlock,
  type Lease,
  type Policy,
  type Pool,
  newPool,
  spend,
} from '../../../../bench/cluster/blocks.ts';
import { computeBlockSize } from '../../../../store/ledger/leases/blockSizes.ts';
import { type Seeded, seeded } from '../../../soak/crash/rounds/seeded.ts';
import { seedsOf } from '../../../base/seeds.ts';

const GAMES = 60;
const CALLS = 600;

interface Game {
  readonly policy: Policy;
  readonly quota: number;
  /** The clock error of each node. */
  readonly off: readonly number[];
  pool: Pool;
  /** By node: its current block, and its lease. */
  readonly blocks: (NodeBlock | undefined)[];
  readonly leased: (Lease | undefined)[];
  spent: number;
  nowMs: number;
}

function gameOf(random: Seeded): Game {
  const nodes = random.between(1, 8);
  const marginMs = random.between(0, 50);
  const policy = {
    nodes,
    marginMs,
    blockMost: random.pick([1, 10, 1e3] as const),
    leaseMs: random.between(100, 1e3),
  };
  const off = Array.from({ length: nodes }, () => random.between(-marginMs, marginMs));
  const quota = random.pick([0, 1, 17, 500, 5_000] as const);
  const [blocks, leased] = [off.map(() => undefined), off.map(() => undefined)];
  return { policy, quota, off, pool: newPool(quota), blocks, leased, spent: 0, nowMs: 0 };
}

/** Returns the spent messages of a lease: all of its messages except those that its node has left. */
const measureSpent =
  ({ blocks }: Game) =>
  ({ messages, node }: Lease): number =>
    messages - (blocks[node]?.left ?? messages);

/** Returns true if the call is allowed; otherwise when to retry. */
function call(game: Game, node: number, need: number): true | number | undefined {
  const { blocks, leased, policy } = game;
  const clockMs = game.nowMs + (game.off[node] ?? 0);
  const own = blocks[node];
  const after = own && spend(policy, own, need, clockMs);
  if (after !== undefined) {
    blocks[node] = after;
    game.spent += need;
    return true;
  }
  const books = measureSpent(game);
  const pool = closeLeases(game.pool, game.nowMs, books);
  const lease = leased[node];
  const spent = lease === undefined ? 0 : books(lease);
  const answer = requestLease(policy, pool, { node, need, spent }, game.nowMs);
  game.pool = answer.pool;
  leased[node] = answer.lease;
  blocks[node] = answer.lease && {
    left: answer.lease.messages - need,
    untilMs: answer.lease.untilMs,
  };
  if (answer.lease === undefined) return answer.againMs;
  game.spent += need;
  return true;
}

/** Unspent messages, by the ledger and the nodes. */
const unspent = (game: Game): number =>
  game.pool.leases.reduce(
    (sum, lease) => sum + lease.messages - measureSpent(game)(lease),
    game.pool.unleased,
  );

function play(random: Seeded): void {
  const game = gameOf(random);
  const { off, policy, quota } = game;
  const lost = new Set<number>();
  for (let at = 0; at < CALLS; at += 1) {
    game.nowMs += random.chance(0.05) ? random.between(0, 1_500) : random.between(0, 5);
    const node = random.between(0, off.length - 1);
    if (lost.size < off.length - 1 && random.chance(0.005)) lost.add(node);
    if (lost.has(node)) continue;
    const need = random.chance(0.8) ? 1 : random.between(1, 40);
    const allowed = call(game, node, need);
    expect(game.spent).toBeLessThanOrEqual(quota);
    expect(unspent(game), 'nothing is lost or created').toBe(quota - game.spent);
    if (allowed === true) continue;
    const replica = game.pool.leases.filter(({ node: other }) => other !== node);
    const unusedElsewhere = unspent(game) - game.pool.unleased;
    if (allowed === undefined) expect(unusedElsewhere).toBe(0);
    else expect(allowed - game.nowMs).toBeLessThanOrEqual(policy.leaseMs);
    for (const { untilMs } of replica) expect(untilMs).toBeLessThanOrEqual(allowed ?? 0);
    expect(game.pool.unleased).toBeLessThan(need);
  }
  // After a lease without a call, a living node spends all that is left.
  game.nowMs += policy.leaseMs + 1;
  const living = off.findIndex((_, node) => !lost.has(node));
  for (let left = quota - game.spent; left > 0; left -= 1) expect(call(game, living, 1)).toBe(true);
  expect(call(game, living, 1)).toBeUndefined();
  expect(game.spent).toBe(quota);
}

test('the quota is never exceeded, and no node keeps unused messages for longer than a lease', (context) => {
  for (const seed of seedsOf(context)) {
    const random = seeded(seed);
    for (let game = 0; game < GAMES; game += 1) play(random.fork());
  }
});

test('blocks shrink to one message near the end of a quota', () => {
  const policy = { nodes: 8, blockMost: 1_000, leaseMs: 1, marginMs: 0 };
  expect(computeBlockSize(policy, 1_000_000, 1)).toBe(1_000);
  expect(computeBlockSize(policy, 1_600, 1)).toBe(100);
  expect(computeBlockSize(policy, 31, 1)).toBe(1);
  expect(computeBlockSize(policy, 3, 1)).toBe(1);
  expect(computeBlockSize(policy, 3, 2)).toBe(2);
});

test('a node whose clock is late by less than the margin spends nothing of a returned lease', () => {
  const policy = { nodes: 2, blockMost: 10, leaseMs: 100, marginMs: 20 };
  const block = { left: 5, untilMs: 100 };
  expect(spend(policy, block, 1, 80)).toEqual({ left: 4, untilMs: 100 });
  expect(spend(policy, block, 1, 81)).toBeUndefined();
  expect(spend(policy, block, 6, 0)).toBeUndefined();
});
