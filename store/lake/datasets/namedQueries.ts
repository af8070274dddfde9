// Named queries of a workspace: views, which are read as datasets, and endpoints, which are called
// with parameters. Held in memory; few are made and many read.
import type { Selectable } from 'kysely';
import type { Clock } from '../../base/clock.ts';
import { checkName } from '../versions/columns.ts';
import type { Database } from '../../catalog/database.ts';
import type { ColumnMapping, RecordSchema } from './datasets.ts';
import { newUuid } from '../../base/random.ts';
import { oneByOne } from '../../queues/oneByOne.ts';
import { QuietChanges } from '../../queues/quiet.ts';
import { refuseDataset, takenBy } from './takenNames.ts';
import type { QueryTable } from '../../catalog/tables/views.ts';

/** A table that a query names, and what it was when the query was made: it may be renamed since. */
export interface NamedTable {
  readonly tableId?: number;
  readonly viewId?: string;
}

/** A value that the caller of an endpoint gives. */
export interface QueryParameter {
  readonly name: string;
  readonly type: 'string' | 'number' | 'integer' | 'boolean' | 'date';
  readonly description?: string;
  /** Taken where none is given; without it one must be. */
  readonly default?: string | number | boolean | null;
}

interface Said {
  readonly title: string;
  readonly description: string;
  readonly query: string;
  /** In the order of the query. */
  readonly tables: readonly NamedTable[];
}

/** What is stored of a query. */
export type QueryBody =
  | (Said & {
      readonly kind: 'view';
      /** The dataset or view that its rows are of first; null: of none. */
      readonly parent: string | null;
      readonly schema: RecordSchema;
      readonly mapping: ColumnMapping;
    })
  | (Said & {
      readonly kind: 'endpoint';
      readonly parameters: readonly QueryParameter[];
      /** Messages for each object; undefined: the highest weight of its datasets. */
      readonly weight?: number;
      /** Least tier that may call it. */
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
  readonly #inTurn = oneByOne();
  readonly changes = new QuietChanges();

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

  /** What they are, as the catalog says. */
  async reload(): Promise<void> {
    const query = this.#database.selectFrom('named_query').selectAll().orderBy('name');
    this.#all = (await query.execute()).map(queryOf);
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

  /** By name, in any case. */
  view(workspace: string, name: string): View | undefined {
    return this.views(workspace).find((item) => isSame(item.name, name));
  }

  viewById(id: string): View | undefined {
    return this.#all.find((item) => item.kind === 'view' && item.id === id) as View | undefined;
  }

  endpoint(workspace: string, name: string): PublishedQuery | undefined {
    return this.endpoints(workspace).find((item) => isSame(item.name, name));
  }

  /** Makes a query, or changes the one of its kind and name. @throws Failure InvalidBody, Conflict. */
  save(workspace: string, name: string, body: QueryBody): Promise<NamedQuery> {
    checkName('name', name);
    return this.#inTurn(() => this.#save(workspace, name, body));
  }

  async #save(workspace: string, name: string, body: QueryBody): Promise<NamedQuery> {
    const now = this.#clock();
    const known =
      body.kind === 'view' ? this.view(workspace, name) : this.endpoint(workspace, name);
    const id = known?.id ?? newUuid();
    const query = {
      ...body,
      id,
      workspace,
      name: known?.name ?? name,
      createdMs: known?.createdMs ?? now,
      updatedMs: now,
    };
    await this.#database.transaction().execute(async (transaction) => {
      if (body.kind === 'view') await refuseDataset(transaction, workspace, name);
      await transaction.deleteFrom('named_query').where('query_id', '=', id).execute();
      await transaction.insertInto('named_query').values(rowOf(query)).execute();
    });
    await this.#show([...this.#without(id), query].sort((a, b) => (a.name < b.name ? -1 : 1)));
    return query;
  }

  async remove({ id }: NamedQuery): Promise<void> {
    await this.#inTurn(async () => {
      await this.#database.deleteFrom('named_query').where('query_id', '=', id).execute();
      await this.#show(this.#without(id));
    });
  }

  #show(all: readonly NamedQuery[]): Promise<void> {
    return this.changes.show(() => void (this.#all = all));
  }

  /** @throws Failure Conflict when the workspace has a view of that name. */
  refuseTaken(workspace: string, name: string): void {
    if (this.view(workspace, name) === undefined) return;
    throw takenBy('view', workspace, name);
  }

  #without(id: string): readonly NamedQuery[] {
    return this.#all.filter((item) => item.id !== id);
  }
}

const isSame = (a: string, b: string): boolean => a.toUpperCase() === b.toUpperCase();

function rowOf(query: NamedQuery): QueryTable {
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

const queryOf = (row: Selectable<QueryTable>): NamedQuery =>
  ({
    ...(JSON.parse(row.body_json) as object),
    kind: row.kind,
    id: row.query_id,
    workspace: row.workspace,
    name: row.name,
    createdMs: row.created_ms,
    updatedMs: row.updated_ms,
  }) as NamedQuery;
