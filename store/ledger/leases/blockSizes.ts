// How much is lent, and for how long: much while much is left, by halves to one message near a limit.

/** Messages of a block while much is left. */
const BLOCK_MOST = 100_000;
/** A block lasts so long without being prolonged, from when its node asked. */
export const LEASE_MS = 5_000;
/** A node stops so much earlier: its last calls are told and on their way meanwhile. */
export const MARGIN_MS = 500;
/** Calls at once, and seconds of its pace, that a node is given for. */
const CALLS_AHEAD = 16;
const SECONDS_AHEAD = 10;
/** A node that has not asked before is given for so much. */
const MESSAGES_AHEAD = 1_000;

export interface BlockPolicy {
  readonly nodes: number;
  /** Messages of a block while much is left. */
  readonly blockMost: number;
}

/** Half of an even share, so that what is left shrinks by halves, and 1 near its end. */
export const blockOf = (
  { blockMost, nodes }: BlockPolicy,
  unleased: number,
  need: number,
): number => Math.max(need, 1, Math.min(blockMost, Math.floor(unleased / (2 * nodes))));

interface Asked {
  readonly need: number;
  readonly left: number;
  readonly perSecond: number;
}

/**
 * Messages that a node is given to those that it has left. As much as that stays here: neither calls of this
 * node nor streams find nothing because others were given all.
 * @param room what may be given; nothing of it where it does not help the call
 */
export function moreOf(nodes: number, room: number, { left, need, perSecond }: Asked): number {
  const policy = { nodes, blockMost: BLOCK_MOST };
  const ahead = Math.max(MESSAGES_AHEAD, need * CALLS_AHEAD, Math.ceil(perSecond * SECONDS_AHEAD));
  const size = Math.max(need, Math.min(ahead, blockOf(policy, room + left, 1)));
  const more = Math.min(Math.max(0, size - left), Math.floor(Math.max(0, room) / 2));
  return left + more < need ? 0 : more;
}
