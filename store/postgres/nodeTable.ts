// Who shares a schema. Each server tells of itself in a row, as long as it runs; the one that serves is the
// one of the schema's present holder, so that one which lost its place without knowing it is not asked.
import { setTimeout as sleep } from 'node:timers/promises';
import type { DatabaseSettings } from '../base/settings/databaseSettings.ts';
import { reasonOf } from '../base/failure.ts';
import { monotonicMs } from '../base/clock.ts';
import { makeHolderTable, HOLDER_TABLE, isSchemaLock, schemaLocked } from './hold.ts';
import { hasTable, type Link, openLink } from './link.ts';

/** In the schema, beside the catalog's tables. */
export const NODE_TABLE = 'tapedeck_nodes';

const LOOK_MS = 200;
const TELL_MS = 1_000;
/** Without an answer for so long the connection is made anew. */
const ANSWER_MS = 5_000;
const AGAIN_MS = 1_000;
/** A look that took longer says nothing about who was silent meanwhile. */
const SLOW_LOOK_MS = 1_000;
/** Rows of servers that were not seen for so long go. */
const FORGET = '1 day';

/** What one server tells the others. */
interface NodeTold {
  readonly name: string;
  readonly version: string;
  /** Where each of its ports is reached, `https://host:port`. */
  readonly doors: NodeDoors;
  /** PEM of the certificate that it shows; '' where it speaks plain HTTP. */
  readonly certificate: string;
  /** What signs requests that another server hands on to it. */
  readonly hopKey: string;
}

export interface NodeDoors {
  readonly production: string;
  readonly test?: string;
  readonly streams?: string;
}

/** Everything, the test environment, streams alone. */
export type DoorKind = keyof NodeDoors;

export interface ServingNode extends NodeTold {
  readonly id: string;
}

/** As an operator sees it. */
export interface ListedNode {
  readonly name: string;
  readonly version: string;
  readonly address: string;
  readonly serves: boolean;
  readonly startedAt: string;
  /** Since it was last heard. */
  readonly silentMs: number;
}

/** `free`: nobody holds the schema; a text: why nobody knows. */
type Held = 'held' | 'free' | { readonly reason: string };

export class NodeTable {
  readonly #settings: DatabaseSettings;
  readonly #id: string;
  readonly #told: NodeTold;
  #epoch: number | undefined;
  /** As which it holds the schema, also while it leaves. */
  #heldEpoch: number | undefined;
  #link: Link | undefined;
  #toldMs = -Infinity;
  #ended = false;
  #loop: Promise<void> | undefined;
  #serving: ServingNode | undefined;
  #held: Held = { reason: 'not looked yet' };
  /** When the one that serves told of itself last, by PostgreSQL's clock; when that was seen to change. */
  #heard = '';
  #heardMs = monotonicMs();
  #lookedMs = monotonicMs();
  /** When a look began that found this one in its place. */
  #confirmedMs = -Infinity;
  /** Undefined before the first outage; while PostgreSQL is away, now. */
  #backSinceMs: number | undefined;
  readonly #waiting = new Set<() => void>();
  #onServing: () => void = () => undefined;

  constructor(settings: DatabaseSettings, id: string, told: NodeTold) {
    this.#settings = settings;
    this.#id = id;
    this.#told = told;
  }

  /** Looks, and tells of itself, until it is closed. */
  async start(): Promise<void> {
    await this.#look();
    this.#loop = this.#looks();
  }

  /** The last that is known: also while PostgreSQL does not answer. */
  get serving(): ServingNode | undefined {
    return this.#serving;
  }

  get held(): Held {
    return this.#held;
  }

  /** @param listener is told each time when another one serves, or none */
  onServing(listener: () => void): void {
    this.#onServing = listener;
  }

  /** How long the one that serves has told nothing of itself, while this one could see it. */
  get silentMs(): number {
    return this.#serving === undefined ? 0 : monotonicMs() - this.#heardMs;
  }

  /** How long ago it was known for sure that this one serves. */
  get unsureMs(): number {
    return monotonicMs() - this.#confirmedMs;
  }

  /** How long PostgreSQL has answered since an outage; endless where there was none. */
  get backMs(): number {
    return this.#backSinceMs === undefined ? Infinity : monotonicMs() - this.#backSinceMs;
  }

  /** Looks whether this one serves still. */
  async confirm(): Promise<boolean> {
    const askedMs = monotonicMs();
    await this.#look();
    return this.#confirmedMs >= askedMs;
  }

  /**
   * Ends the session by which a silent node holds the schema. It may only sleep: once it wakes, its
   * connection is gone, and nothing that it then writes gets anywhere.
   */
  async endSilent(): Promise<void> {
    const link = await this.#linked();
    await link.run(
      `select pg_terminate_backend(l.pid) from pg_locks l
      where ${isSchemaLock} and exists (
        select from ${NODE_TABLE} n join ${HOLDER_TABLE} h on n.epoch = h.epoch
        where n.id = $2 and n.seen::text = $3)`,
      [this.#settings.schema, this.#serving?.id, this.#heard],
    );
  }

  /** Resolves when another one serves, or after so long. */
  changed(withinMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, withinMs);
    this.#waiting.add(resolve);
    return promise.finally(() => {
      clearTimeout(timer);
      this.#waiting.delete(resolve);
    });
  }

  /** This one holds the schema now. */
  async serves(): Promise<void> {
    const link = await this.#linked();
    const { rows } = await link.run(`select epoch from ${HOLDER_TABLE}`, []);
    this.#epoch = (rows[0] as { readonly epoch: number }).epoch;
    this.#heldEpoch = this.#epoch;
    await this.#tell(link);
    await this.#look();
  }

  /** It holds the schema still, and takes nothing new; resolves once the others know that. */
  async leaves(): Promise<void> {
    this.#epoch = undefined;
    // Those that do not hear it in time are refused, and ask again.
    await this.#linked().then(
      (link) => this.#tell(link),
      () => undefined,
    );
    await sleep(2 * LOOK_MS);
  }

  async close(): Promise<void> {
    this.#ended = true;
    await this.#loop;
    await this.#link
      ?.run(`delete from ${NODE_TABLE} where id = $1`, [this.#id])
      .catch(() => undefined);
    await this.#link?.close();
  }

  async #looks(): Promise<void> {
    while (!this.#ended) {
      await sleep(typeof this.#held === 'string' ? LOOK_MS : AGAIN_MS, undefined, { ref: false });
      if (!this.#ended) await this.#look();
    }
  }

  async #look(): Promise<void> {
    try {
      const link = await this.#linked();
      if (monotonicMs() - this.#toldMs >= TELL_MS) await this.#tell(link);
      const askedMs = monotonicMs();
      const { rows } = await link.run(
        `select n.id, n.told, n.seen::text as heard, ${schemaLocked} as held,
          (select epoch from ${HOLDER_TABLE}) as epoch from (select) as one
        left join (${HOLDER_TABLE} h join ${NODE_TABLE} n on n.epoch = h.epoch) on true`,
        [this.#settings.schema],
      );
      const [row] = rows as readonly Looked[];
      this.#hear(row?.heard ?? '', askedMs);
      const isOwn = this.#heldEpoch !== undefined && row?.epoch === this.#heldEpoch;
      if (isOwn && row?.held === true) this.#confirmedMs = askedMs;
      this.#held = row?.held === true ? 'held' : 'free';
      this.#set(row?.held === true && row.id !== null ? servingOf(row.id, row.told) : undefined);
    } catch (error) {
      this.#backSinceMs = monotonicMs();
      this.#held = { reason: reasonOf(error) };
      this.#heardMs = monotonicMs();
      const link = this.#link;
      this.#link = undefined;
      await link?.close();
    }
  }

  #hear(heard: string, askedMs: number): void {
    const nowMs = monotonicMs();
    // Whoever was not looking can't tell who was silent.
    const isBlind = nowMs - askedMs > SLOW_LOOK_MS || askedMs - this.#lookedMs > SLOW_LOOK_MS;
    if (heard !== this.#heard || isBlind) [this.#heard, this.#heardMs] = [heard, nowMs];
    this.#lookedMs = nowMs;
  }

  #set(serving: ServingNode | undefined): void {
    if (serving?.id === this.#serving?.id) return;
    this.#serving = serving;
    this.#onServing();
    for (const resolve of this.#waiting) resolve();
  }

  async #linked(): Promise<Link> {
    if (this.#link?.isLost === false) return this.#link;
    await this.#link?.close();
    this.#link = undefined;
    const link = await openLink(this.#settings, ANSWER_MS);
    try {
      await makeNodeTable(link, this.#settings);
    } catch (error) {
      await link.close();
      throw error;
    }
    // A disk that is busy is no silence.
    await link.run('set synchronous_commit = off', []);
    this.#toldMs = -Infinity;
    this.#link = link;
    return link;
  }

  async #tell(link: Link): Promise<void> {
    await link.run(
      `insert into ${NODE_TABLE} (id, told, epoch) values ($1, $2, $3)
      on conflict (id) do update set told = excluded.told, epoch = excluded.epoch, seen = now()`,
      [this.#id, JSON.stringify(this.#told), this.#epoch ?? null],
    );
    this.#toldMs = monotonicMs();
  }
}

interface Looked {
  readonly id: string | null;
  readonly told: string;
  readonly heard: string | null;
  readonly held: boolean;
  /** Of who holds the schema, or held it last. */
  readonly epoch: number | null;
}

const servingOf = (id: string, told: string): ServingNode => ({
  ...(JSON.parse(told) as NodeTold),
  id,
});

/** Two that make it at once: one of them fails, and looks again. */
async function makeNodeTable(link: Link, settings: DatabaseSettings): Promise<void> {
  await makeHolderTable(link, settings);
  await link.run(
    `create table if not exists ${NODE_TABLE} (id text primary key, told text not null, epoch bigint,
      started timestamptz not null default now(), seen timestamptz not null default now())`,
    [],
  );
  await link.run(`delete from ${NODE_TABLE} where seen < now() - interval '${FORGET}'`, []);
}

/** The node that serves; undefined where none does. */
export async function findServing(
  link: Link,
  { schema }: DatabaseSettings,
): Promise<ServingNode | undefined> {
  if (!(await hasTable(link, schema, NODE_TABLE))) return undefined;
  const { rows } = await link.run(
    `select n.id, n.told from ${HOLDER_TABLE} h join ${NODE_TABLE} n on n.epoch = h.epoch
    where ${schemaLocked}`,
    [schema],
  );
  const [row] = rows as readonly Pick<Looked, 'id' | 'told'>[];
  return row === undefined || row.id === null ? undefined : servingOf(row.id, row.told);
}

/** Those that were heard in the last day, the one that serves first. */
export async function listNodes(
  link: Link,
  settings: DatabaseSettings,
): Promise<readonly ListedNode[]> {
  await makeNodeTable(link, settings);
  const { rows } = await link.run(
    `select told, started, ${schemaLocked} and epoch is not null and
        epoch = (select epoch from ${HOLDER_TABLE}) as serves,
      (extract(epoch from now() - seen) * 1000)::int8 as silent
    from ${NODE_TABLE} order by serves desc, started, id`,
    [settings.schema],
  );
  return (rows as readonly ListedRow[]).map(({ serves, silent, started, told }) => {
    const { doors, name, version } = JSON.parse(told) as NodeTold;
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
