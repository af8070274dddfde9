// Publishes changes from the serving node to its read replicas: each replica pauses before a change becomes
// visible, and receives the change before it answers again.
import type { Socket } from 'node:net';
import { encodeFrame } from '../remote/frames.ts';
import type { Change } from '../lake/lake.ts';
import type { QuotaLessor } from '../ledger/leases/quotaLessor.ts';
import { type PushedRows, listTableIds } from '../lake/pushes/pendingTable.ts';
import type { ReadBarrier } from '../queues/readBarrier.ts';
import { Follower } from './follower.ts';
import { type FromNode, type StateMessage, MESSAGE_BYTES_MAX } from './messages.ts';

/** A change that is not visible yet. */
interface Changing {
  /** Affected tables; all when undefined. */
  readonly tableIds: readonly number[] | undefined;
  /** Replicas that pause meanwhile and receive the resume message. */
  readonly nodes: Set<Follower>;
}

/** Limit of replicas; a further node forwards its requests. */
const NODES_MAX = 64;

interface FollowersParts {
  /** Monotonic. */
  readonly clockMs: () => number;
  /** Whether this node certainly still serves. */
  readonly isSure: () => boolean;
  /** Id of the latest visible snapshot. */
  readonly snapshot: () => number;
  /** Returns the pending rows of a table. */
  readonly pending: (tableId: number) => PushedRows;
  readonly lessor: Pick<QuotaLessor, 'join' | 'close'>;
}

export class Followers {
  readonly #parts: FollowersParts;
  readonly #nodes = new Set<Follower>();
  readonly #changes = new Map<number, Changing>();
  #lastPause = 0;

  constructor(parts: FollowersParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#nodes.size;
  }

  join(nodeId: string, socket: Socket): void {
    if (this.#nodes.size >= NODES_MAX) return void socket.destroy();
    const { clockMs, isSure, lessor, snapshot } = this.#parts;
    const lease = lessor.join(nodeId, (message) => node.send({ kind: 'lease', message }));
    const handle = (message: FromNode): void => {
      if (message.kind === 'lease') lease.take(message.message);
      else if (message.kind === 'watch') this.#watch(node, message.tableId);
      else if (message.kind === 'unwatch') node.watchedTables.delete(message.tableId);
    };
    const node = new Follower({ socket, clockMs, isSure, take: handle });
    this.#nodes.add(node);
    node.send({ kind: 'welcome', snapshot: snapshot() });
    // It answers nothing yet, so its confirmation is not awaited.
    for (const [id, { nodes, tableIds }] of this.#changes) {
      nodes.add(node);
      node.send({ kind: 'quiet', id, tableIds });
    }
    void node.disconnected.then(() => {
      this.#nodes.delete(node);
      lease.left();
    });
  }

  /** Pauses the affected replicas before a change becomes visible. */
  readonly pause: ReadBarrier = (tableIds) => {
    if (this.#nodes.size === 0) return undefined;
    const paused = [...this.#nodes].filter(
      ({ watchedTables }) =>
        tableIds === undefined || tableIds.some((tableId) => watchedTables.has(tableId)),
    );
    const id = (this.#lastPause += 1);
    const nodes = new Set(paused);
    this.#changes.set(id, { tableIds, nodes });
    return Promise.all(paused.map((node) => node.pause(id, tableIds))).then(() => () => {
      this.#changes.delete(id);
      this.#broadcast({ kind: 'resume', id }, (node) => nodes.has(node));
    });
  };

  /** Sends a commit that is visible from now on. */
  sendChange(change: Change): void {
    const { tableIds } = change;
    const isWatching = ({ watchedTables }: Follower): boolean =>
      tableIds.some((tableId) => watchedTables.has(tableId));
    const watching = [...this.#nodes].filter(isWatching);
    const frame = watching.length === 0 ? undefined : encodeFrame({ kind: 'changed', change });
    if (frame !== undefined && frame.length > MESSAGE_BYTES_MAX) {
      for (const node of watching) stopWatching(node, tableIds);
    } else if (frame !== undefined) for (const node of watching) node.sendFrame(frame);
    // Nodes that don't read these tables need no records.
    const bare = { ...change, touches: undefined };
    this.#broadcast({ kind: 'changed', change: bare }, (node) => !isWatching(node));
  }

  /** Sends pushed rows that are visible from now on. */
  sendPushed(rows: readonly PushedRows[]): void {
    for (const node of this.#nodes) {
      const own = rows.filter(({ tableId }) => node.watchedTables.has(tableId));
      if (own.length > 0) sendOrForget(node, { kind: 'pushed', made: own }, listTableIds(own));
    }
  }

  /** Sends the pushed rows that a snapshot contains from now on. */
  sendFlushed(tableId: number, snapshot: number, sequences: readonly number[]): void {
    const isWatching = ({ watchedTables }: Follower): boolean => watchedTables.has(tableId);
    this.#broadcast({ kind: 'flushed', tableId, snapshot, sequences }, isWatching);
  }

  /** Sends removed files, so that every replica deletes its copies. */
  sendRemoved(paths: readonly string[]): void {
    this.#broadcast({ kind: 'removed', paths });
  }

  sendAccountsChanged(): void {
    this.#broadcast({ kind: 'accounts' });
  }

  sendQueriesChanged(): void {
    this.#broadcast({ kind: 'queries' });
  }

  /**
   * Disconnects the replicas. They forward requests or follow the next serving node, and report the charges
   * that this node did not accept to it.
   */
  close(): void {
    this.#parts.lessor.close();
    for (const node of this.#nodes) node.close();
  }

  #watch(node: Follower, tableId: number): void {
    node.watchedTables.add(tableId);
    for (const [id, { nodes, tableIds }] of this.#changes) {
      if (tableIds?.includes(tableId) !== true) continue;
      nodes.add(node);
      node.send({ kind: 'quiet', id, tableIds });
    }
    sendOrForget(node, { kind: 'table', pending: this.#parts.pending(tableId) }, [tableId]);
  }

  #broadcast(
    message: Parameters<Follower['send']>[0],
    isRecipient: (node: Follower) => boolean = isAny,
  ): void {
    let frame: Buffer | undefined;
    for (const node of this.#nodes) {
      if (!isRecipient(node)) continue;
      frame ??= encodeFrame(message);
      node.sendFrame(frame);
    }
  }
}

const isAny = (): boolean => true;

/** Sends a message; replicas stop watching these tables if it is too long. */
function sendOrForget(node: Follower, message: StateMessage, tableIds: readonly number[]): void {
  const frame = encodeFrame(message);
  if (frame.length > MESSAGE_BYTES_MAX) stopWatching(node, tableIds);
  else node.sendFrame(frame);
}

function stopWatching(node: Follower, tableIds: readonly number[]): void {
  for (const tableId of tableIds) {
    if (node.watchedTables.delete(tableId)) node.send({ kind: 'forgotten', tableId });
  }
}
