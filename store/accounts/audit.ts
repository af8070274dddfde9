// The audit log of changes to accounts and tokens. An entry is written in the transaction of its change.
import type { Database } from '../catalog/database.ts';
import { redactData } from '../base/redact.ts';

export interface AuditEntry {
  /** `admin`, `system`, or the id of the token that was used. */
  readonly actor: string;
  readonly accountId: string;
  readonly action: string;
  /** The parameters of the change; never a token or a secret. */
  readonly detail: Readonly<Record<string, unknown>>;
}

export interface AuditLine extends AuditEntry {
  readonly timeMs: number;
}

/** Entries to keep; the oldest are deleted first. */
const ENTRIES_MAX = 1_000_000;

export async function writeAudit(
  transaction: Database,
  { actor, accountId, action, detail }: AuditEntry,
  nowMs: number,
): Promise<void> {
  const newest = await transaction
    .selectFrom('audit')
    .select((select) => select.fn.max('sequence').as('sequence'))
    .executeTakeFirst();
  const sequence = Number(newest?.sequence ?? 0) + 1;
  const who = { sequence, time_ms: nowMs, actor, account_id: accountId };
  const row = { ...who, action, detail_json: JSON.stringify(redactData(detail)) };
  await transaction.insertInto('audit').values(row).execute();
  await transaction
    .deleteFrom('audit')
    .where('sequence', '<=', sequence - ENTRIES_MAX)
    .execute();
}

/** Reads the latest entries of one account or of all, newest first. */
export async function readAudit(
  database: Database,
  accountId: string | undefined,
  limit: number,
): Promise<readonly AuditLine[]> {
  const all = database.selectFrom('audit').selectAll().orderBy('sequence', 'desc').limit(limit);
  const rows = await (
    accountId === undefined ? all : all.where('account_id', '=', accountId)
  ).execute();
  return rows.map((row) => ({
    timeMs: row.time_ms,
    actor: row.actor,
    accountId: row.account_id,
    action: row.action,
    detail: JSON.parse(row.detail_json) as Record<string, unknown>,
  }));
}
