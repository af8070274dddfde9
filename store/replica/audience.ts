// Nodes that answer reads beside this one, which serves: they are quiet before a change shows, and are told
// what it is before they answer again.
import type { Socket } from 'node:net';
import { frameOf } from '../lent/frames.ts';
import type { Change } from '../lake/lake.ts';
import type { QuotaLessor } from '../ledger/leases/lessor.ts';
import { type MadeRows, tablesOf } from '../lake/pushes/pendingTable.ts';
import type { Quiet } from '../queues/quiet.ts';
import { Listener } from './listener.ts';
import { type FromNode, type News, NEWS_BYTES_MAX } from './news.ts';

/** A change that is not shown yet. */
interface Changing {
  /** All when undefined. */
  readonly tableIds: readonly number[] | undefined;
  /** Who is to be quiet meanwhile, and told when it may go on. */
  readonly nodes: Set<Listener>;
}

/** Nodes that listen; any further one hands on what it is asked. */
const NODES_MAX = 64;

interface AudienceParts {
  /** Monotonic. */
  readonly clockMs: () => number;
  /** Whether this node still is the one that serves, as far as it can know. */
  readonly isSure: () => boolean;
  /** Id of the newest snapshot that readers see. */
  readonly snapshot: () => number;
  /** What is pending for a table. */
  readonly pending: (tableId: number) => MadeRows;
  readonly lessor: Pick<QuotaLessor, 'join' | 'close'>;
}

export class Audience {
  readonly #parts: AudienceParts;
  readonly #nodes = new Set<Listener>();
  readonly #changing = new Map<number, Changing>();
  #quiets = 0;

  constructor(parts: AudienceParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#nodes.size;
  }

  join(nodeId: string, socket: Socket): void {
    if (this.#nodes.size >= NODES_MAX) return void socket.destroy();
    const { clockMs, isSure, lessor, snapshot } = this.#parts;
    const lease = lessor.join(nodeId, (message) => node.send({ kind: 'lease', message }));
    const take = (message: FromNode): void => {
      if (message.kind === 'lease') lease.take(message.message);
      else if (message.kind === 'watch') this.#watch(node, message.tableId);
      else if (message.kind === 'unwatch') node.watched.delete(message.tableId);
    };
    const node = new Listener({ socket, clockMs, isSure, take });
    this.#nodes.add(node);
    node.send({ kind: 'welcome', snapshot: snapshot() });
    // It answers nothing yet: it need not confirm.
    for (const [id, { nodes, tableIds }] of this.#changing) {
      nodes.add(node);
      node.send({ kind: 'quiet', id, tableIds });
    }
    void node.gone.then(() => {
      this.#nodes.delete(node);
      lease.left();
    });
  }

  /** Before something shows. */
  readonly quiet: Quiet = (tableIds) => {
    if (this.#nodes.size === 0) return undefined;
    const asked = [...this.#nodes].filter(
      ({ watched }) => tableIds === undefined || tableIds.some((tableId) => watched.has(tableId)),
    );
    const id = (this.#quiets += 1);
    const nodes = new Set(asked);
    this.#changing.set(id, { tableIds, nodes });
    return Promise.all(asked.map((node) => node.quiet(id, tableIds))).then(() => () => {
      this.#changing.delete(id);
      this.#tell({ kind: 'resume', id }, (node) => nodes.has(node));
    });
  };

  /** A commit that shows from now on. */
  changed(change: Change): void {
    const { tableIds } = change;
    const reads = ({ watched }: Listener): boolean =>
      tableIds.some((tableId) => watched.has(tableId));
    const all = [...this.#nodes].filter(reads);
    const frame = all.length === 0 ? undefined : frameOf({ kind: 'changed', change });
    if (frame !== undefined && frame.length > NEWS_BYTES_MAX) {
      for (const node of all) forget(node, tableIds);
    } else if (frame !== undefined) for (const node of all) node.sendFrame(frame);
    // Its records are nothing to those that read others.
    const bare = { ...change, touches: undefined };
    this.#tell({ kind: 'changed', change: bare }, (node) => !reads(node));
  }

  /** Rows that show from now on. */
  pushed(made: readonly MadeRows[]): void {
    for (const node of this.#nodes) {
      const own = made.filter(({ tableId }) => node.watched.has(tableId));
      if (own.length > 0) tellOrForget(node, { kind: 'pushed', made: own }, tablesOf(own));
    }
  }

  /** Pushed rows that a snapshot holds from now on. */
  flushed(tableId: number, snapshot: number, sequences: readonly number[]): void {
    const reads = ({ watched }: Listener): boolean => watched.has(tableId);
    this.#tell({ kind: 'flushed', tableId, snapshot, sequences }, reads);
  }

  /** Nothing of them is to stay anywhere. */
  removed(paths: readonly string[]): void {
    this.#tell({ kind: 'removed', paths });
  }

  accounts(): void {
    this.#tell({ kind: 'accounts' });
  }

  queries(): void {
    this.#tell({ kind: 'queries' });
  }

  /** They hand on from here on, or follow the next one, and report to that what was not taken here. */
  close(): void {
    this.#parts.lessor.close();
    for (const node of this.#nodes) node.close();
  }

  #watch(node: Listener, tableId: number): void {
    node.watched.add(tableId);
    for (const [id, { nodes, tableIds }] of this.#changing) {
      if (tableIds?.includes(tableId) !== true) continue;
      nodes.add(node);
      node.send({ kind: 'quiet', id, tableIds });
    }
    tellOrForget(node, { kind: 'table', pending: this.#parts.pending(tableId) }, [tableId]);
  }

  #tell(message: Parameters<Listener['send']>[0], whom: (node: Listener) => boolean = all): void {
    let frame: Buffer | undefined;
    for (const node of this.#nodes) {
      if (!whom(node)) continue;
      frame ??= frameOf(message);
      node.sendFrame(frame);
    }
  }
}

const all = (): boolean => true;

/** Whatever is too long to tell of tables, a node is not told of them. */
function tellOrForget(node: Listener, news: News, tableIds: readonly number[]): void {
  const frame = frameOf(news);
  if (frame.length > NEWS_BYTES_MAX) forget(node, tableIds);
  else node.sendFrame(frame);
}

function forget(node: Listener, tableIds: readonly number[]): void {
  for (const tableId of tableIds) {
    if (node.watched.delete(tableId)) node.send({ kind: 'forgotten', tableId });
  }
}
