// Recomputes charges from the journal, line by line, and compares them with the counters and the balances:
// reports each line that disagrees, and balances that agree but exceed their quota.
import { monthsBefore } from '../../store/ledger/billingDays.ts';
import type { Row } from '../../store/duckdb/protocol.ts';
import type { Database } from '../../store/catalog/database.ts';
import { readLatestSnapshot } from '../../store/lake/history/history.ts';
import { type CallLine, parseLines, readJournal } from '../../store/ledger/journal.ts';
import type { Ledger } from '../../store/ledger/ledger.ts';
import { CALLS, SYSTEM_WORKSPACE } from '../../store/lake/systemTables.ts';
import { withOpenFiles } from '../../store/lake/versions/tableFiles.ts';
import { visibleRows } from '../../store/lake/versions/tableSql.ts';
import type { JournalParts } from './journalRoll.ts';
import { findOverQuota } from './overQuota.ts';
import { identifier } from '../../store/duckdb/sqlText.ts';

export interface LedgerVerdict {
  /** Calls of the journal that were recomputed. */
  readonly calls: number;
  readonly messages: number;
  readonly premium: number;
  /** Sentences, each naming the account and the line; none when everything agrees. */
  readonly faults: readonly string[];
}

/** Reported faults; the rest is counted. */
const FAULTS_MAX = 100;

interface Sums {
  messages: number;
  premium: number;
  calls: number;
}

interface Recomputed {
  /** By account and month. */
  readonly balances: Map<string, Sums>;
  /** By account, token, key and hour. */
  readonly counters: Map<string, Sums>;
  readonly faults: string[];
}

const HOUR_MS = 3_600_000;

/**
 * Charges must have been written before: flush the ledger first.
 * @param ledger also compared with the books, if set
 */
export async function verifyLedger(parts: JournalParts, ledger?: Ledger): Promise<LedgerVerdict> {
  const sums: Recomputed = { balances: new Map(), counters: new Map(), faults: [] };
  const books = await readBooks(parts.database);
  // Compared first: calls that are charged later only add to the memory.
  if (ledger !== undefined) sums.faults.push(...findForgotten(books.balances, ledger));
  for (const { sequence, text } of books.journal) {
    for (const line of parseLines(text)) addLine(sums, line, `journal ${sequence}`);
  }
  await addRolled(sums, books.snapshot, parts);
  compareBalances(sums, books.balances, parts);
  compareCounters(sums, books.counters, parts);
  const total = { messages: 0, premium: 0, calls: 0 };
  for (const balance of sums.balances.values()) add(total, balance);
  const faults = [...sums.faults, ...(await findOverQuota(parts.database, parts.days))];
  const more = faults.length - FAULTS_MAX;
  const reported = more > 0 ? [...faults.slice(0, FAULTS_MAX), `${more} more`] : faults;
  return { ...total, faults: reported };
}

/** All of one moment: a concurrently charged call is in none of them, or in each. */
const readBooks = (database: Database) =>
  database.transaction().execute(async (transaction) => ({
    journal: await readJournal(transaction),
    balances: await transaction.selectFrom('balance').selectAll().execute(),
    counters: await transaction.selectFrom('usage').selectAll().execute(),
    snapshot: await readLatestSnapshot(transaction),
  }));

type Books = Awaited<ReturnType<typeof readBooks>>;

function addLine(sums: Recomputed, line: CallLine, place: string): void {
  const { accountId, tokenId, usageKey, month, timeMs, messages, premium } = line;
  const one = { messages, premium, calls: 1 };
  const hour = Math.floor(timeMs / HOUR_MS);
  addTo(sums.balances, [accountId, month], one);
  addTo(sums.counters, [accountId, tokenId, usageKey, hour], one);
  if (messages + premium === line.objects * line.weight) return;
  const price = `${line.objects} objects of weight ${line.weight}`;
  const charged = `${messages + premium} messages charged for ${price}`;
  sums.faults.push(`account ${accountId}, request ${line.requestId} (${place}): ${charged}`);
}

function addTo(map: Map<string, Sums>, parts: readonly (string | number)[], sums: Sums): void {
  const key = JSON.stringify(parts);
  const stored = map.get(key);
  if (stored === undefined) map.set(key, { ...sums });
  else add(stored, sums);
}

function add(to: Sums, sums: Sums): void {
  to.messages += sums.messages;
  to.premium += sums.premium;
  to.calls += sums.calls;
}

/** Adds lines that are in Parquet: DuckDB sums them, and finds those that contradict themselves. */
async function addRolled(sums: Recomputed, snapshot: number, parts: JournalParts): Promise<void> {
  const { lake, pool, deadlineMs } = parts;
  await lake.waitForSnapshot(snapshot);
  const dataset = lake.directory.dataset(SYSTEM_WORKSPACE, CALLS.dataset);
  const table =
    dataset === undefined ? undefined : await lake.recentTable(dataset.tableId, snapshot);
  if (table === undefined || table.files.length === 0) return;
  const answers = await withOpenFiles(lake.files, table.files, ({ paths, pathOf }) => {
    const rows = visibleRows(table.files, table.columns, pathOf);
    const total = 'sum(messages) AS messages, sum(premium) AS premium, count(*) AS calls';
    const hour = `epoch_ms("time") // ${HOUR_MS}`;
    const account = identifier('accountId');
    const statements = [
      `SELECT ${account} AS account, "month", ${total} FROM ${rows} GROUP BY ALL`,
      `SELECT ${account} AS account, "tokenId" AS token, "usageKey" AS key, ${hour} AS hour, ${total}
        FROM ${rows} GROUP BY ALL`,
      `SELECT ${account} AS account, "requestId" AS request, messages + premium AS charged, objects,
        weight FROM ${rows} WHERE messages + premium <> objects * weight LIMIT ${FAULTS_MAX}`,
    ];
    return pool.rows({ files: paths, statements, deadlineMs });
  });
  const [balances = [], counters = [], wrong = []] = answers;
  for (const row of balances)
    addTo(sums.balances, [text(row, 'account'), text(row, 'month')], toSums(row));
  for (const row of counters) {
    const key = [text(row, 'account'), text(row, 'token'), text(row, 'key'), Number(row['hour'])];
    addTo(sums.counters, key, toSums(row));
  }
  for (const row of wrong) {
    const price = `${text(row, 'objects')} objects of weight ${text(row, 'weight')}`;
    const charged = `${text(row, 'charged')} messages charged for ${price}`;
    const line = `account ${text(row, 'account')}, request ${text(row, 'request')}`;
    sums.faults.push(`${line} (${SYSTEM_WORKSPACE}.${CALLS.dataset}): ${charged}`);
  }
}

const text = (row: Row, name: string): string => String(row[name]);

const toSums = (row: Row): Sums => ({
  messages: Number(row['messages']),
  premium: Number(row['premium']),
  calls: Number(row['calls']),
});

function compareBalances(sums: Recomputed, stored: Books['balances'], parts: JournalParts): void {
  const isRetained = retainedMonths(parts);
  const seen = new Set<string>();
  for (const row of stored) {
    const key = JSON.stringify([row.account_id, row.month]);
    seen.add(key);
    const counted = { messages: row.messages, premium: row.premium };
    if (isRetained(row.month)) {
      compare(
        sums,
        `account ${row.account_id}, month ${row.month}: the balance`,
        counted,
        sums.balances.get(key),
      );
    }
  }
  for (const [key, journal] of sums.balances) {
    if (!seen.has(key)) compare(sums, `${key}: the balance`, { messages: 0, premium: 0 }, journal);
  }
}

/** Amounts in the books that the ledger's memory lacks could be spent again. */
const findForgotten = (
  balances: readonly (Counted & { readonly account_id: string; readonly month: string })[],
  ledger: Ledger,
): readonly string[] =>
  balances.flatMap(({ account_id, month, messages, premium }) => {
    if (month !== ledger.month) return [];
    const { used } = ledger.balance(account_id);
    const usedPremium = ledger.premiumBalance(account_id).used;
    if (used >= messages && usedPremium >= premium) return [];
    const knows = `the ledger has ${used} messages and ${usedPremium} premium ones`;
    return [`account ${account_id}, month ${month}: ${knows} of ${messages} and ${premium}`];
  });

function compareCounters(sums: Recomputed, stored: Books['counters'], parts: JournalParts): void {
  const { days } = parts;
  const isRetained = retainedMonths(parts);
  const seen = new Set<string>();
  for (const row of stored) {
    const key = JSON.stringify([row.account_id, row.token_id, row.usage_key, row.hour]);
    seen.add(key);
    if (!isRetained(days.month(row.hour * HOUR_MS))) continue;
    const at = `token ${row.token_id}, ${row.usage_key}, hour ${row.hour}`;
    const place = `account ${row.account_id}, ${at}: the counter`;
    compare(sums, place, row, sums.counters.get(key));
  }
  for (const [key, journal] of sums.counters) {
    if (!seen.has(key)) compare(sums, `${key}: the counter`, { messages: 0, premium: 0 }, journal);
  }
}

type Counted = Pick<Sums, 'messages' | 'premium'>;

function compare(
  sums: Recomputed,
  place: string,
  counted: Counted,
  journal: Counted | undefined,
): void {
  const { messages, premium } = journal ?? { messages: 0, premium: 0 };
  if (counted.messages === messages && counted.premium === premium) return;
  const amounts = `has ${counted.messages} messages and ${counted.premium} premium ones`;
  sums.faults.push(`${place} ${amounts}, the journal ${messages} and ${premium}`);
}

/** Months of which every line is retained: older ones are removed from the journal. */
function retainedMonths({ clock, days, monthsKept }: JournalParts): (month: string) => boolean {
  const oldest = monthsBefore(days.month(clock()), monthsKept);
  return (month) => month >= oldest;
}
