// The tables of the service: accounts, tokens, datasets, jobs and charges.
import type { Kysely } from 'kysely';
import type { AuditTable, JournalTable, RetiredTokenTable } from './accounts.ts';
import type { CredentialTable, DataSourceTable, FeedPositionTable } from './sources.ts';
import type { DownloadLinkTable, ExportTable, FileTypeTable, PublicationTable } from './exports.ts';
import type { HistoryFloorTable } from './history.ts';
import type { FileProofTable } from './fileProofs.ts';
import type { QueryTable } from './views.ts';
import type {
  ClockMarkTable,
  PendingTable,
  PushEndTable,
  PushLogTable,
  WriteKeyTable,
} from './pushes.ts';
import type { LoadedFileTable, QuarantineTable } from './datasets.ts';
import type {
  AlertCallTable,
  AlertTable,
  RuleDayTable,
  RuleStandTable,
  RuleTable,
} from './rules.ts';
import type { QueryCursorTable } from './cursors.ts';
import { type Added, type AddedBoolean, createTable, type SqlBoolean } from './createTable.ts';
import type { RunTable, ScheduleTable } from './schedules.ts';
import type { DeliveryTable, WebhookTable } from './webhooks.ts';

interface AccountTable {
  readonly account_id: string;
  readonly name: string;
  readonly tier: string;
  readonly pay_as_you_go: SqlBoolean;
  readonly created_ms: number;
  readonly suspended: AddedBoolean;
  /** Pay-as-you-go messages in a month after which all calls are refused; null: no limit. */
  readonly circuit_breaker: Added<number | null>;
  /** Messages in a month after which all calls stop; null: no limit. */
  readonly budget: Added<number | null>;
  readonly ceiling: Added<number | null>;
  /** Premium messages in a month; 0: no access to premium data. */
  readonly premium_messages: Added<number>;
  /** JSON: names of restricted datasets of CORE that the account may read. */
  readonly grants_json: Added<string>;
  readonly default_workspace: Added<string | null>;
}

interface TokenTable {
  readonly token_id: string;
  readonly account_id: string;
  readonly kind: string;
  /** HMAC-SHA-256 of the token under the data key, hex, by which it is found. */
  readonly hash: string;
  /** The token: in plain text if publishable, sealed under the data key if secret. */
  readonly stored: string;
  readonly disabled: SqlBoolean;
  readonly created_ms: number;
  readonly name: Added<string>;
  /** Valid only in the test environment. */
  readonly test: AddedBoolean;
  readonly message_limit: Added<number | null>;
  /** JSON: its rights on datasets; null: the rights of its kind. */
  readonly grants_json: Added<string | null>;
  readonly core: AddedBoolean;
  readonly premium: AddedBoolean;
  readonly addresses_json: Added<string>;
  readonly referrers_json: Added<string>;
  /** Sealed; null: requests with this token need no signature. */
  readonly signing_secret: Added<string | null>;
  readonly refuse_replays: AddedBoolean;
  readonly full_signatures: AddedBoolean;
  readonly last_used_ms: Added<number | null>;
}

interface WorkspaceTable {
  readonly workspace: string;
  readonly account_id: string;
  readonly schema_id: number;
  readonly created_ms: number;
}

interface DatasetTable {
  readonly table_id: number;
  readonly workspace: string;
  readonly dataset: string;
  readonly title: string;
  readonly description: string;
  readonly source: string;
  readonly weight: number;
  /** JSON: the schema as declared by the owner or as inferred. */
  readonly schema_json: string;
  /** JSON: the properties that are key, subkey and date. */
  readonly mapping_json: string;
  readonly created_ms: number;
  readonly updated_ms: number;
  /** JSON: other accounts with read access (datasets.ts `Access`). */
  readonly access_json: Added<string>;
  /** JSON: properties that contain symbols of a known kind. */
  readonly smart_links_json: Added<string>;
  /** Days for which versions are kept; null: the server's setting. */
  readonly history_days: Added<number | null>;
  /** JSON: how records that violate the schema are handled (contracts.ts); null: the default. */
  readonly contract_json: Added<string | null>;
  /** JSON: the expectations on records; null: none. */
  readonly expectations_json: Added<string | null>;
  /** 1: its records are numbered, and have no unique index. */
  readonly is_numbered: Added<number>;
  /** 1: its index was inferred from data, not declared. */
  readonly is_inferred: Added<number>;
  /** Terms for showing and redistributing its records. */
  readonly license: Added<string>;
}

interface JobTable {
  readonly job_id: string;
  /** Order in which jobs were accepted: unlike a clock, it never goes back. */
  readonly sequence: number;
  readonly account_id: string;
  readonly workspace: string;
  readonly dataset: string;
  readonly type: string;
  readonly status: string;
  readonly last_good_status: string;
  /** 0 to 100. */
  readonly progress: number;
  /** Number of starts: more than one if the server stopped while it ran. */
  readonly attempts: number;
  /** JSON: the location of the bytes and the load options. */
  readonly load_json: string;
  readonly bytes: number;
  readonly records_validated: number;
  readonly records_ingested: number;
  readonly records_invalid: number;
  readonly records_duplicate: number;
  readonly records_quarantined: Added<number>;
  readonly snapshot_id: number | null;
  readonly error: string | null;
  readonly created_ms: number;
  readonly started_ms: number | null;
  readonly finished_ms: number | null;
  /** JSON: index, properties and warnings of its load, for the owner. */
  readonly notes_json: Added<string | null>;
  /** Stored records that its records replaced. */
  readonly records_replaced: Added<number>;
  /** Records left out because the same source delivered them before, equal in every property. */
  readonly records_unchanged: Added<number>;
  /** JSON: columns of its files that are not stored. */
  readonly columns_left_out_json: Added<string | null>;
}

interface JobRejectTable {
  readonly job_id: string;
  readonly line: number;
  readonly error: string;
}

interface LogTable {
  readonly log_id: string;
  readonly workspace: string;
  readonly time_ms: number;
  readonly severity: string;
  readonly message: string;
  readonly job_id: string | null;
}

interface BalanceTable {
  readonly account_id: string;
  /** `YYYYMM` in the billing zone. */
  readonly month: string;
  readonly messages: number;
  readonly premium: Added<number>;
}

interface UsageTable {
  readonly account_id: string;
  readonly token_id: string;
  readonly usage_key: string;
  /** Hours since the epoch, which can be summed to days of any zone. */
  readonly hour: number;
  readonly messages: number;
  readonly calls: number;
  readonly premium: Added<number>;
}

interface FolderTable {
  readonly key: string;
  readonly value: string;
}

export interface ServiceTables {
  readonly account: AccountTable;
  readonly token: TokenTable;
  readonly workspace: WorkspaceTable;
  readonly dataset: DatasetTable;
  readonly job: JobTable;
  readonly job_reject: JobRejectTable;
  readonly log: LogTable;
  readonly balance: BalanceTable;
  readonly usage: UsageTable;
  readonly folder: FolderTable;
  readonly retired_token: RetiredTokenTable;
  readonly audit: AuditTable;
  readonly journal: JournalTable;
  readonly pending: PendingTable;
  readonly push_log: PushLogTable;
  readonly push_end: PushEndTable;
  readonly clock_mark: ClockMarkTable;
  readonly query_cursor: QueryCursorTable;
  readonly named_query: QueryTable;
  readonly history_floor: HistoryFloorTable;
  readonly file_proof: FileProofTable;
  readonly quarantine: QuarantineTable;
  readonly credential: CredentialTable;
  readonly data_source: DataSourceTable;
  readonly feed_position: FeedPositionTable;
  readonly schedule: ScheduleTable;
  readonly ingestion_run: RunTable;
  readonly webhook: WebhookTable;
  readonly delivery: DeliveryTable;
  readonly export: ExportTable;
  readonly file_type: FileTypeTable;
  readonly publication: PublicationTable;
  readonly download_link: DownloadLinkTable;
  readonly rule: RuleTable;
  readonly rule_stand: RuleStandTable;
  readonly rule_day: RuleDayTable;
  readonly alert: AlertTable;
  readonly alert_call: AlertCallTable;
  readonly loaded_file: LoadedFileTable;
  readonly write_key: WriteKeyTable;
}

const DDL: Readonly<Record<string, string>> = {
  account: `account_id! text, name text, tier text, pay_as_you_go boolean, created_ms bigint`,
  token: `token_id! text, account_id text, kind text, hash text, stored text, disabled boolean,
    created_ms bigint`,
  workspace: 'workspace! text, account_id text, schema_id bigint, created_ms bigint',
  dataset: `table_id! bigint, workspace text, dataset text, title text, description text, source text,
    weight bigint, schema_json text, mapping_json text, created_ms bigint, updated_ms bigint`,
  job: `job_id! text, sequence bigint, account_id text, workspace text, dataset text, type text, status text,
    last_good_status text, progress bigint, attempts bigint, load_json text, bytes bigint, records_validated
    bigint, records_ingested bigint, records_invalid bigint, records_duplicate bigint,
    snapshot_id bigint, error text, created_ms bigint, started_ms bigint, finished_ms bigint`,
  job_reject: 'job_id text, line bigint, error text',
  log: `log_id! text, workspace text, time_ms bigint, severity text, message text, job_id text`,
  balance: 'account_id text, month text, messages bigint',
  usage: `account_id text, token_id text, usage_key text, hour bigint, messages bigint, calls bigint`,
  folder: 'key! text, value text',
};

/** Unique keys and look-ups that the code relies on: name, table, columns. */
const INDEXES: readonly (readonly [string, string, readonly string[], boolean])[] = [
  ['token_by_hash', 'token', ['hash'], true],
  ['dataset_by_name', 'dataset', ['workspace', 'dataset'], true],
  ['job_by_dataset', 'job', ['workspace', 'dataset', 'created_ms'], false],
  ['job_by_status', 'job', ['status'], false],
  ['job_reject_by_job', 'job_reject', ['job_id', 'line'], false],
  ['log_by_workspace', 'log', ['workspace', 'time_ms'], false],
  ['balance_by_month', 'balance', ['account_id', 'month'], true],
  ['usage_by_hour', 'usage', ['account_id', 'hour', 'token_id', 'usage_key'], true],
];

export async function createServiceTables(database: Kysely<unknown>): Promise<void> {
  for (const [table, columns] of Object.entries(DDL)) await createTable(database, table, columns);
  for (const [name, table, columns, unique] of INDEXES) {
    const index = database.schema
      .createIndex(name)
      .on(table)
      .columns([...columns]);
    await (unique ? index.unique() : index).execute();
  }
}
