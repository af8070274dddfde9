// Lists the servers that share a schema. Each server updates its row while it runs. The serving node is the
// one with the epoch of the current holder, so that a server that lost the schema unknowingly gets no
// requests.
import { setTimeout as sleep } from 'node:timers/promises';
import type { DatabaseSettings } from '../base/settings/databaseSettings.ts';
import { reasonOf } from '../base/failure.ts';
import { monotonicMs } from '../base/clock.ts';
import {
  createHolderTable,
  HOLDER_TABLE,
  schemaLockFilter,
  schemaLockedSql,
} from './schemaLock.ts';
import { hasTable, type PostgresConnection, openConnection } from './postgresConnection.ts';

/** Table in the schema, beside the catalog's tables. */
export const NODE_TABLE = 'tapedeck_nodes';

const POLL_INTERVAL_MS = 200;
const HEARTBEAT_MS = 1_000;
/** Timeout of an answer; the connection is reopened then. */
const ANSWER_MS = 5_000;
const RETRY_DELAY_MS = 1_000;
/** A slower poll is no evidence that another server was silent. */
const SLOW_POLL_MS = 1_000;
/** Age at which rows of silent servers are deleted. */
const ROW_LIFETIME = '1 day';

/** Description that a server publishes to the others. */
interface NodeDescription {
  readonly name: string;
  readonly version: string;
  /** Address of each of its ports, `https://host:port`. */
  readonly doors: NodeEndpoints;
  /** PEM of its certificate; '' for plain HTTP. */
  readonly certificate: string;
  /** Key that signs requests forwarded by another server. */
  readonly hopKey: string;
}

export interface NodeEndpoints {
  readonly production: string;
  readonly test?: string;
  readonly streams?: string;
}

/** All routes, the test environment, or streams only. */
export type EndpointKind = keyof NodeEndpoints;

export interface ServingNode extends NodeDescription {
  readonly id: string;
}

/** A node as operators see it. */
export interface ListedNode {
  readonly name: string;
  readonly version: string;
  readonly address: string;
  readonly serves: boolean;
  readonly startedAt: string;
  /** Time since its latest heartbeat. */
  readonly silentMs: number;
}

/** `free`: no process holds the schema; a reason: the state is unknown. */
type LockState = 'held' | 'free' | { readonly reason: string };

export class NodeTable {
  readonly #settings: DatabaseSettings;
  readonly #id: string;
  readonly #description: NodeDescription;
  #epoch: number | undefined;
  /** Epoch under which it holds the schema, also while it leaves. */
  #ownEpoch: number | undefined;
  #link: PostgresConnection | undefined;
  #heartbeatMs = -Infinity;
  #ended = false;
  #loop: Promise<void> | undefined;
  #serving: ServingNode | undefined;
  #lockState: LockState = { reason: 'not checked yet' };
  /** Latest heartbeat of the serving node by PostgreSQL's clock, and when that was seen to change. */
  #servingSeen = '';
  #servingSeenMs = monotonicMs();
  #polledMs = monotonicMs();
  /** Start of the latest poll that confirmed this node as the serving one. */
  #confirmedMs = -Infinity;
  /** Undefined before the first outage; the current time while PostgreSQL is unavailable. */
  #outageEndMs: number | undefined;
  readonly #waiters = new Set<() => void>();
  #onServing: () => void = () => undefined;

  constructor(settings: DatabaseSettings, id: string, description: NodeDescription) {
    this.#settings = settings;
    this.#id = id;
    this.#description = description;
  }

  /** Polls and sends heartbeats until it is closed. */
  async start(): Promise<void> {
    await this.#poll();
    this.#loop = this.#pollLoop();
  }

  /** Returns the latest known serving node, also while PostgreSQL does not answer. */
  get serving(): ServingNode | undefined {
    return this.#serving;
  }

  get lockState(): LockState {
    return this.#lockState;
  }

  /** @param listener is called each time another node serves, or none */
  onServing(listener: () => void): void {
    this.#onServing = listener;
  }

  /** Time since the latest heartbeat of the serving node, as far as this node could observe it. */
  get silentMs(): number {
    return this.#serving === undefined ? 0 : monotonicMs() - this.#servingSeenMs;
  }

  /** Time since this node was last confirmed as the serving one. */
  get unconfirmedMs(): number {
    return monotonicMs() - this.#confirmedMs;
  }

  /** Time since the latest outage of PostgreSQL; infinite without one. */
  get sinceOutageMs(): number {
    return this.#outageEndMs === undefined ? Infinity : monotonicMs() - this.#outageEndMs;
  }

  /** Checks whether this node still serves. */
  async confirm(): Promise<boolean> {
    const startMs = monotonicMs();
    await this.#poll();
    return this.#confirmedMs >= startMs;
  }

  /**
   * Terminates the session of a silent serving node. The node may only be suspended: once it wakes, its
   * connection is closed, and its later writes fail.
   */
  async terminateSilent(): Promise<void> {
    const link = await this.#connectedLink();
    await link.run(
      `select pg_terminate_backend(l.pid) from pg_locks l
      where ${schemaLockFilter} and exists (
        select from ${NODE_TABLE} n join ${HOLDER_TABLE} h on n.epoch = h.epoch
        where n.id = $2 and n.seen::text = $3)`,
      [this.#settings.schema, this.#serving?.id, this.#servingSeen],
    );
  }

  /** Resolves when another node serves, or after the timeout. */
  waitForChange(timeoutMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, timeoutMs);
    this.#waiters.add(resolve);
    return promise.finally(() => {
      clearTimeout(timer);
      this.#waiters.delete(resolve);
    });
  }

  /** Publishes that this node holds the schema now. */
  async markServing(): Promise<void> {
    const link = await this.#connectedLink();
    const { rows } = await link.run(`select epoch from ${HOLDER_TABLE}`, []);
    this.#epoch = (rows[0] as { readonly epoch: number }).epoch;
    this.#ownEpoch = this.#epoch;
    await this.#sendHeartbeat(link);
    await this.#poll();
  }

  /**
   * Publishes that this node stops serving, while it still holds the schema. Resolves once the others have
   * seen it.
   */
  async announceLeave(): Promise<void> {
    this.#epoch = undefined;
    // Nodes that miss the update are refused, and retry.
    await this.#connectedLink().then(
      (link) => this.#sendHeartbeat(link),
      () => undefined,
    );
    await sleep(2 * POLL_INTERVAL_MS);
  }

  async close(): Promise<void> {
    this.#ended = true;
    await this.#loop;
    await this.#link
      ?.run(`delete from ${NODE_TABLE} where id = $1`, [this.#id])
      .catch(() => undefined);
    await this.#link?.close();
  }

  async #pollLoop(): Promise<void> {
    while (!this.#ended) {
      await sleep(
        typeof this.#lockState === 'string' ? POLL_INTERVAL_MS : RETRY_DELAY_MS,
        undefined,
        { ref: false },
      );
      if (!this.#ended) await this.#poll();
    }
  }

  async #poll(): Promise<void> {
    try {
      const link = await this.#connectedLink();
      if (monotonicMs() - this.#heartbeatMs >= HEARTBEAT_MS) await this.#sendHeartbeat(link);
      const startMs = monotonicMs();
      const { rows } = await link.run(
        `select n.id, n.told, n.seen::text as heard, ${schemaLockedSql} as held,
          (select epoch from ${HOLDER_TABLE}) as epoch from (select) as one
        left join (${HOLDER_TABLE} h join ${NODE_TABLE} n on n.epoch = h.epoch) on true`,
        [this.#settings.schema],
      );
      const [row] = rows as readonly ServingRow[];
      this.#recordSeen(row?.heard ?? '', startMs);
      const isOwn = this.#ownEpoch !== undefined && row?.epoch === this.#ownEpoch;
      if (isOwn && row?.held === true) this.#confirmedMs = startMs;
      this.#lockState = row?.held === true ? 'held' : 'free';
      this.#setServing(
        row?.held === true && row.id !== null ? parseServing(row.id, row.told) : undefined,
      );
    } catch (error) {
      this.#outageEndMs = monotonicMs();
      this.#lockState = { reason: reasonOf(error) };
      this.#servingSeenMs = monotonicMs();
      const link = this.#link;
      this.#link = undefined;
      await link?.close();
    }
  }

  #recordSeen(seen: string, startMs: number): void {
    const nowMs = monotonicMs();
    // After a delayed poll, this node can't know who was silent.
    const isBlind = nowMs - startMs > SLOW_POLL_MS || startMs - this.#polledMs > SLOW_POLL_MS;
    if (seen !== this.#servingSeen || isBlind)
      [this.#servingSeen, this.#servingSeenMs] = [seen, nowMs];
    this.#polledMs = nowMs;
  }

  #setServing(serving: ServingNode | undefined): void {
    if (serving?.id === this.#serving?.id) return;
    this.#serving = serving;
    this.#onServing();
    for (const resolve of this.#waiters) resolve();
  }

  async #connectedLink(): Promise<PostgresConnection> {
    if (this.#link?.isLost === false) return this.#link;
    await this.#link?.close();
    this.#link = undefined;
    const link = await openConnection(this.#settings, ANSWER_MS);
    try {
      await createNodeTable(link, this.#settings);
    } catch (error) {
      await link.close();
      throw error;
    }
    // A busy disk must not look like a silent node.
    await link.run('set synchronous_commit = off', []);
    this.#heartbeatMs = -Infinity;
    this.#link = link;
    return link;
  }

  async #sendHeartbeat(link: PostgresConnection): Promise<void> {
    await link.run(
      `insert into ${NODE_TABLE} (id, told, epoch) values ($1, $2, $3)
      on conflict (id) do update set told = excluded.told, epoch = excluded.epoch, seen = now()`,
      [this.#id, JSON.stringify(this.#description), this.#epoch ?? null],
    );
    this.#heartbeatMs = monotonicMs();
  }
}

interface ServingRow {
  readonly id: string | null;
  readonly told: string;
  readonly heard: string | null;
  readonly held: boolean;
  /** Epoch of the current or latest holder. */
  readonly epoch: number | null;
}

const parseServing = (id: string, description: string): ServingNode => ({
  ...(JSON.parse(description) as NodeDescription),
  id,
});

/** Of two concurrent creations one fails, and retries. */
async function createNodeTable(
  link: PostgresConnection,
  settings: DatabaseSettings,
): Promise<void> {
  await createHolderTable(link, settings);
  await link.run(
    `create table if not exists ${NODE_TABLE} (id text primary key, told text not null, epoch bigint,
      started timestamptz not null default now(), seen timestamptz not null default now())`,
    [],
  );
  await link.run(`delete from ${NODE_TABLE} where seen < now() - interval '${ROW_LIFETIME}'`, []);
}

/** Finds the serving node; undefined when there is none. */
export async function findServing(
  link: PostgresConnection,
  { schema }: DatabaseSettings,
): Promise<ServingNode | undefined> {
  if (!(await hasTable(link, schema, NODE_TABLE))) return undefined;
  const { rows } = await link.run(
    `select n.id, n.told from ${HOLDER_TABLE} h join ${NODE_TABLE} n on n.epoch = h.epoch
    where ${schemaLockedSql}`,
    [schema],
  );
  const [row] = rows as readonly Pick<ServingRow, 'id' | 'told'>[];
  return row === undefined || row.id === null ? undefined : parseServing(row.id, row.told);
}

/** Lists the nodes seen in the last day, the serving one first. */
export async function listNodes(
  link: PostgresConnection,
  settings: DatabaseSettings,
): Promise<readonly ListedNode[]> {
  await createNodeTable(link, settings);
  const { rows } = await link.run(
    `select told, started, ${schemaLockedSql} and epoch is not null and
        epoch = (select epoch from ${HOLDER_TABLE}) as serves,
      (extract(epoch from now() - seen) * 1000)::int8 as silent
    from ${NODE_TABLE} order by serves desc, started, id`,
    [settings.schema],
  );
  return (rows as readonly ListedRow[]).map(({ serves, silent, started, told: description }) => {
    const { doors, name, version } = JSON.parse(description) as NodeDescription;
    const address = doors.production;
    return { name, version, address, serves, startedAt: started, silentMs: Math.max(0, silent) };
  });
}

interface ListedRow {
  readonly told: string;
  readonly started: string;
  readonly serves: boolean;
  readonly silent: number;
}
