// All workspaces and datasets in memory. A commit reads again what it wrote, however many others there are:
// with 5,000 datasets all of them took 25 ms of the event loop, after each commit.
import type { Selectable } from 'kysely';
import type { Database, Tables } from '../../catalog/database.ts';
import { USUAL_CONTRACT } from './contracts.ts';
import type { Expectation, SchemaContract } from './contracts.ts';
import type { Touched } from './datasetRows.ts';
import type {
  Access,
  ColumnMapping,
  Dataset,
  RecordSchema,
  Share,
  SmartLink,
  Workspace,
} from './datasets.ts';

export interface Directory {
  /** Of all accounts. */
  allWorkspaces(): readonly Workspace[];
  workspaces(accountId: string): readonly Workspace[];
  /** By name, in any case. */
  workspace(name: string): Workspace | undefined;
  /** By their names. */
  datasets(workspace: string): readonly Dataset[];
  /** Those whose owner keeps less history than the server. */
  limitedInHistory(): readonly Dataset[];
  /** By the id that stays when it is renamed. */
  datasetById(tableId: number): Dataset | undefined;
  /** By name, in any case: old clients send lower-case ids (INTERFACE.md 5). */
  dataset(workspace: string, name: string): Dataset | undefined;
  /** What others share with an account, by its table, each as this account reads it. */
  sharedWith(accountId: string): ReadonlyMap<number, Dataset>;
}

type Shared = ReadonlyMap<string, ReadonlyMap<number, Dataset>>;

const NONE_SHARED: ReadonlyMap<number, Dataset> = new Map();

/** Ids of one question: SQLite binds so many. */
const IDS_MAX = 500;

export class LiveDirectory {
  /** By their names in capitals, in the order of their making. */
  readonly #workspaces = new Map<string, Workspace>();
  readonly #byId = new Map<number, Dataset>();
  /** By workspace and name, both in capitals. */
  readonly #byPlace = new Map<string, Map<string, Dataset>>();
  /** By their names, of the workspaces that were asked for since they changed. */
  readonly #ordered = new Map<string, readonly Dataset[]>();
  /** Of which less history is kept, and which are shared: few, where there are thousands. */
  readonly #limited = new Map<number, Dataset>();
  readonly #sharing = new Map<number, Dataset>();
  #shared: Shared | undefined;
  #view: Directory;

  private constructor() {
    this.#view = this.#newView();
  }

  static async load(database: Database): Promise<LiveDirectory> {
    const directory = new LiveDirectory();
    const workspaces = await database.selectFrom('workspace').selectAll().execute();
    const datasets = await database.selectFrom('dataset').selectAll().execute();
    for (const row of workspaces) directory.#addWorkspace(row);
    for (const row of datasets) directory.#put(datasetOf(row));
    return directory;
  }

  /** Another object after each change: what follows from it may be kept by it. */
  get view(): Directory {
    return this.#view;
  }

  /** Takes up what a commit wrote. */
  async refresh(database: Database, { datasets, workspaces }: Touched): Promise<void> {
    if (datasets.size + workspaces.size === 0) return;
    const names = [...workspaces];
    const ids = [...datasets];
    const places =
      names.length === 0
        ? []
        : await database
            .selectFrom('workspace')
            .selectAll()
            .where('workspace', 'in', names)
            .execute();
    const rows: Selectable<Tables['dataset']>[] = [];
    for (let at = 0; at < ids.length; at += IDS_MAX) {
      const some = ids.slice(at, at + IDS_MAX);
      const query = database.selectFrom('dataset').selectAll().where('table_id', 'in', some);
      rows.push(...(await query.execute()));
    }
    for (const row of places) this.#addWorkspace(row);
    for (const tableId of ids) this.#remove(tableId);
    for (const row of rows) this.#put(datasetOf(row));
    this.#view = this.#newView();
  }

  #addWorkspace(row: Selectable<Tables['workspace']>): void {
    const { account_id: accountId, schema_id: schemaId, workspace } = row;
    this.#workspaces.set(workspace.toUpperCase(), { workspace, accountId, schemaId });
  }

  #put(dataset: Dataset): void {
    const place = dataset.workspace.toUpperCase();
    const inPlace = this.#byPlace.get(place) ?? new Map<string, Dataset>();
    this.#byPlace.set(place, inPlace.set(dataset.dataset.toUpperCase(), dataset));
    this.#byId.set(dataset.tableId, dataset);
    if (dataset.historyDays !== null) this.#limited.set(dataset.tableId, dataset);
    if ((dataset.access.accounts ?? []).length > 0) {
      this.#sharing.set(dataset.tableId, dataset);
      this.#shared = undefined;
    }
    this.#ordered.delete(place);
  }

  #remove(tableId: number): void {
    const known = this.#byId.get(tableId);
    if (known === undefined) return;
    const place = known.workspace.toUpperCase();
    const name = known.dataset.toUpperCase();
    this.#byId.delete(tableId);
    this.#limited.delete(tableId);
    if (this.#sharing.delete(tableId)) this.#shared = undefined;
    const inPlace = this.#byPlace.get(place);
    // One that was dropped may have given its name to another one in the same commit.
    if (inPlace?.get(name)?.tableId === tableId) inPlace.delete(name);
    this.#ordered.delete(place);
  }

  #orderedIn(workspace: string): readonly Dataset[] {
    const place = workspace.toUpperCase();
    const known = this.#ordered.get(place);
    if (known !== undefined) return known;
    const all = [...(this.#byPlace.get(place)?.values() ?? [])];
    const ordered = all.sort((one, other) => (one.dataset < other.dataset ? -1 : 1));
    this.#ordered.set(place, ordered);
    return ordered;
  }

  #newView(): Directory {
    return {
      allWorkspaces: () => [...this.#workspaces.values()],
      workspaces: (accountId) =>
        [...this.#workspaces.values()].filter((item) => item.accountId === accountId),
      workspace: (name) => this.#workspaces.get(name.toUpperCase()),
      datasets: (workspace) => this.#orderedIn(workspace),
      limitedInHistory: () => [...this.#limited.values()],
      datasetById: (tableId) => this.#byId.get(tableId),
      // Most names are spelled so already; every request looks up several.
      dataset: (workspace, name) => {
        const inPlace = this.#byPlace.get(workspace) ?? this.#byPlace.get(workspace.toUpperCase());
        return inPlace?.get(name) ?? inPlace?.get(name.toUpperCase());
      },
      sharedWith: (accountId) => {
        this.#shared ??= sharedOf(this.#sharing.values());
        return this.#shared.get(accountId) ?? NONE_SHARED;
      },
    };
  }
}

const datasetOf = (row: Selectable<Tables['dataset']>): Dataset => ({
  tableId: row.table_id,
  workspace: row.workspace,
  dataset: row.dataset,
  title: row.title,
  description: row.description,
  source: row.source,
  license: row.license,
  weight: row.weight,
  schema: JSON.parse(row.schema_json) as RecordSchema,
  mapping: JSON.parse(row.mapping_json) as ColumnMapping,
  numbered: row.is_numbered === 1,
  inferred: row.is_inferred === 1,
  access: JSON.parse(row.access_json) as Access,
  smartLinks: JSON.parse(row.smart_links_json) as SmartLink[],
  historyDays: row.history_days,
  contract:
    row.contract_json === null ? USUAL_CONTRACT : (JSON.parse(row.contract_json) as SchemaContract),
  expectations: JSON.parse(row.expectations_json ?? '[]') as Expectation[],
  createdMs: row.created_ms,
  updatedMs: row.updated_ms,
});

/** What is shared with each account, by its table. */
function sharedOf(datasets: Iterable<Dataset>): Shared {
  const all = new Map<string, Map<number, Dataset>>();
  for (const dataset of datasets) {
    for (const share of dataset.access.accounts ?? []) {
      const own = all.get(share.accountId) ?? new Map<number, Dataset>();
      all.set(share.accountId, own.set(dataset.tableId, onTerms(dataset, share)));
    }
  }
  return all;
}

/** Whom else it is shared with is no concern of its readers. */
function onTerms(dataset: Dataset, share: Share): Dataset {
  const { sqlPrice } = dataset.access;
  const { delayMinutes = dataset.access.delayMinutes, tier, weight = dataset.weight } = share;
  const access: Access = {
    level: 'open',
    ...(tier === undefined ? {} : { tier }),
    ...(sqlPrice === undefined ? {} : { sqlPrice }),
    ...(delayMinutes === undefined ? {} : { delayMinutes }),
  };
  return { ...dataset, weight, access };
}
