// Keeps named queries of a workspace in memory: views, which are read as datasets, and endpoints, which are
// called with parameters. Few are created and many read.
import type { Selectable } from 'kysely';
import type { Clock } from '../../base/clock.ts';
import { checkName } from '../versions/columns.ts';
import type { Database } from '../../catalog/database.ts';
import type { ColumnMapping, RecordSchema } from './datasets.ts';
import { newUuid } from '../../base/random.ts';
import { serialQueue } from '../../queues/serialQueue.ts';
import { BarrierChanges } from '../../queues/readBarrier.ts';
import { refuseDataset, nameCollision } from './nameCollisions.ts';
import type { QueryTable } from '../../catalog/tables/views.ts';

/** Table of a query by its id at creation: the name may have changed since. */
export interface NamedTable {
  readonly tableId?: number;
  readonly viewId?: string;
}

/** A parameter of an endpoint. */
export interface QueryParameter {
  readonly name: string;
  readonly type: 'string' | 'number' | 'integer' | 'boolean' | 'date';
  readonly description?: string;
  /** Default value; without it the parameter is required. */
  readonly default?: string | number | boolean | null;
}

interface CommonBody {
  readonly title: string;
  readonly description: string;
  readonly query: string;
  /** Tables in the order of the query. */
  readonly tables: readonly NamedTable[];
}

/** Stored body of a query. */
export type QueryBody =
  | (CommonBody & {
      readonly kind: 'view';
      /** The dataset or view of its rows; null for none. */
      readonly parent: string | null;
      readonly schema: RecordSchema;
      readonly mapping: ColumnMapping;
    })
  | (CommonBody & {
      readonly kind: 'endpoint';
      readonly parameters: readonly QueryParameter[];
      /** Messages for each object; undefined: the highest weight of its datasets. */
      readonly weight?: number;
      /** Lowest tier that may call it. */
      readonly tier?: string;
    });

type NamedQuery = QueryBody & {
  readonly id: string;
  readonly workspace: string;
  readonly name: string;
  readonly createdMs: number;
  readonly updatedMs: number;
};

export type View = Extract<NamedQuery, { readonly kind: 'view' }>;
export type PublishedQuery = Extract<NamedQuery, { readonly kind: 'endpoint' }>;

export class NamedQueries {
  readonly #database: Database;
  readonly #clock: Clock;
  #all: readonly NamedQuery[];
  readonly #serially = serialQueue();
  readonly changes = new BarrierChanges();

  private constructor(database: Database, clock: Clock, all: readonly NamedQuery[]) {
    this.#database = database;
    this.#clock = clock;
    this.#all = all;
  }

  static async open(database: Database, clock: Clock): Promise<NamedQueries> {
    const queries = new NamedQueries(database, clock, []);
    await queries.reload();
    return queries;
  }

  /** Reloads all queries from the catalog. */
  async reload(): Promise<void> {
    const query = this.#database.selectFrom('named_query').selectAll().orderBy('name');
    this.#all = (await query.execute()).map(toQuery);
  }

  views(workspace: string): readonly View[] {
    return this.#all.filter(
      (item) => item.kind === 'view' && item.workspace === workspace,
    ) as View[];
  }

  endpoints(workspace: string): readonly PublishedQuery[] {
    return this.#all.filter(
      (item) => item.kind === 'endpoint' && item.workspace === workspace,
    ) as PublishedQuery[];
  }

  /** Finds a view by name, ignoring case. */
  view(workspace: string, name: string): View | undefined {
    return this.views(workspace).find((item) => isSame(item.name, name));
  }

  viewById(id: string): View | undefined {
    return this.#all.find((item) => item.kind === 'view' && item.id === id) as View | undefined;
  }

  endpoint(workspace: string, name: string): PublishedQuery | undefined {
    return this.endpoints(workspace).find((item) => isSame(item.name, name));
  }

  /** Creates a query, or changes the one of its kind and name. @throws Failure InvalidBody, Conflict. */
  save(workspace: string, name: string, body: QueryBody): Promise<NamedQuery> {
    checkName('name', name);
    return this.#serially(() => this.#save(workspace, name, body));
  }

  async #save(workspace: string, name: string, body: QueryBody): Promise<NamedQuery> {
    const now = this.#clock();
    const existing =
      body.kind === 'view' ? this.view(workspace, name) : this.endpoint(workspace, name);
    const id = existing?.id ?? newUuid();
    const query = {
      ...body,
      id,
      workspace,
      name: existing?.name ?? name,
      createdMs: existing?.createdMs ?? now,
      updatedMs: now,
    };
    await this.#database.transaction().execute(async (transaction) => {
      if (body.kind === 'view') await refuseDataset(transaction, workspace, name);
      await transaction.deleteFrom('named_query').where('query_id', '=', id).execute();
      await transaction.insertInto('named_query').values(toRow(query)).execute();
    });
    await this.#publish([...this.#without(id), query].sort((a, b) => (a.name < b.name ? -1 : 1)));
    return query;
  }

  async remove({ id }: NamedQuery): Promise<void> {
    await this.#serially(async () => {
      await this.#database.deleteFrom('named_query').where('query_id', '=', id).execute();
      await this.#publish(this.#without(id));
    });
  }

  #publish(all: readonly NamedQuery[]): Promise<void> {
    return this.changes.apply(() => void (this.#all = all));
  }

  /** @throws Failure Conflict when the workspace has a view of that name. */
  refuseExistingView(workspace: string, name: string): void {
    if (this.view(workspace, name) === undefined) return;
    throw nameCollision('view', workspace, name);
  }

  #without(id: string): readonly NamedQuery[] {
    return this.#all.filter((item) => item.id !== id);
  }
}

const isSame = (a: string, b: string): boolean => a.toUpperCase() === b.toUpperCase();

function toRow(query: NamedQuery): QueryTable {
  const { createdMs, id, kind, name, updatedMs, workspace, ...body } = query;
  return {
    query_id: id,
    kind,
    workspace,
    name,
    body_json: JSON.stringify(body),
    created_ms: createdMs,
    updated_ms: updatedMs,
  };
}

const toQuery = (row: Selectable<QueryTable>): NamedQuery =>
  ({
    ...(JSON.parse(row.body_json) as object),
    kind: row.kind,
    id: row.query_id,
    workspace: row.workspace,
    name: row.name,
    createdMs: row.created_ms,
    updatedMs: row.updated_ms,
  }) as NamedQuery;
