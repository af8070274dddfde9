// Computes size and duration of leases: large blocks while much quota remains, halved down to one message
// near a limit.

/** Limit of messages of one block. */
const BLOCK_MOST = 100_000;
/** Duration of a lease from its request, unless it is renewed. */
export const LEASE_MS = 5_000;
/** Safety margin: a node stops earlier, so that its last calls are reported in time. */
export const MARGIN_MS = 500;
/** A grant covers this number of concurrent calls and seconds at the current rate. */
const CALLS_AHEAD = 16;
const SECONDS_AHEAD = 10;
/** Grant of a node's first request. */
const MESSAGES_AHEAD = 1_000;

export interface BlockPolicy {
  readonly nodes: number;
  /** Limit of messages of one block. */
  readonly blockMost: number;
}

/** Returns half of an even share, so that the remainder shrinks by halves, and 1 near its end. */
export const computeBlockSize = (
  { blockMost, nodes }: BlockPolicy,
  unleased: number,
  need: number,
): number => Math.max(need, 1, Math.min(blockMost, Math.floor(unleased / (2 * nodes))));

interface GrantRequest {
  readonly need: number;
  readonly left: number;
  readonly perSecond: number;
}

/**
 * Computes the additional messages of a node. The same amount stays on the serving node, so that its own
 * calls and streams still find messages.
 * @param room messages that may be granted; none are granted if they would not cover the call
 */
export function computeGrant(
  nodes: number,
  room: number,
  { left, need, perSecond }: GrantRequest,
): number {
  const policy = { nodes, blockMost: BLOCK_MOST };
  const ahead = Math.max(MESSAGES_AHEAD, need * CALLS_AHEAD, Math.ceil(perSecond * SECONDS_AHEAD));
  const size = Math.max(need, Math.min(ahead, computeBlockSize(policy, room + left, 1)));
  const more = Math.min(Math.max(0, size - left), Math.floor(Math.max(0, room) / 2));
  return left + more < need ? 0 : more;
}
