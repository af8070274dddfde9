// The law of leased quota, over virtual time and connections that fail: no message over a limit is used, and
// each delivered call is charged once, despite ends of nodes.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import type { Database } from '../../../../store/catalog/database.ts';
import { migrate } from '../../../../store/catalog/migrate.ts';
import { parseLines, readJournal } from '../../../../store/ledger/journal.ts';
import { openDatabase } from '../../../../store/sqlite/sqliteDatabase.ts';
import { type Order, type Report, seeded } from '../../crash/rounds/seeded.ts';
import { History } from './history.ts';

/** Plays `count` histories. */
export async function quotaLeasesLaw({ count, log, seed }: Order): Promise<Report> {
  const database = openDatabase(':memory:');
  await migrate(database);
  // No timer fires in real time: the ledger of a killed node writes nothing more.
  mock.timers.enable({ apis: ['setTimeout'] });
  const failures: string[] = [];
  const sums = { delivered: 0, elsewhere: 0, refused: 0, uncovered: 0, lost: 0, successions: 0 };
  try {
    const random = seeded(seed);
    for (let at = 0; at < count; at += 1) {
      const own = Math.floor(random.next() * 2 ** 31);
      const historySums = await playedHistory(database, own).catch((error: unknown) => {
        failures.push(`history ${at}, seed ${own}: ${String(error)}`);
        log(failures.at(-1) ?? '');
      });
      if (historySums === undefined) continue;
      for (const key of Object.keys(sums) as (keyof typeof sums)[]) sums[key] += historySums[key];
    }
  } finally {
    mock.timers.reset();
    await database.destroy();
  }
  const notes = Object.entries(sums).map(([what, sum]) => `${what} ${sum}`);
  return { seed, count, failures, notes: [notes.join(', ')] };
}

/** One history from its own seed. */
async function playedHistory(database: Database, seed: number): Promise<History['sums']> {
  for (const table of ['balance', 'usage', 'journal', 'folder'] as const) {
    const all = database.deleteFrom(table);
    await (table === 'folder' ? all.where('key', 'like', 'reported %') : all).execute();
  }
  const history = await History.start(database, seeded(seed));
  await history.play();
  await compare(database, history);
  return history.sums;
}

/** Compares the messages reported to clients with the ledger, except for effects of ended nodes. */
async function compare(database: Database, history: History): Promise<void> {
  const lines = (await readJournal(database)).flatMap(({ text }) => parseLines(text));
  const charged = new Map(lines.map((line) => [line.requestId, line.messages + line.premium]));
  assert.equal(charged.size, lines.length, 'a call is charged twice');
  for (const [requestId, messages] of charged) {
    assert.equal(
      messages,
      history.receipts.get(requestId)?.messages,
      `${requestId} reported another charge`,
    );
  }
  const missing = [...history.receipts].filter(([requestId]) => !charged.has(requestId));
  const unexplained = missing.filter(([requestId]) => !history.excused.has(requestId));
  const byDead = new Map<object, number>();
  let alive = 0;
  for (const [, { by }] of unexplained) {
    if (history.unackedOfDead.has(by)) byDead.set(by, (byDead.get(by) ?? 0) + 1);
    else alive += 1;
  }
  const { uncovered } = history.sums;
  assert.ok(alive <= uncovered, `${alive} calls are not charged, ${uncovered} were not covered`);
  for (const [by, count] of byDead) {
    const most = (history.unackedOfDead.get(by) ?? 0) + uncovered;
    assert.ok(count <= most, `${count} calls of a node that was killed are not charged`);
  }
  if (history.isCalm) assert.equal(uncovered, 0, 'calls are not covered where nothing failed');
  const balances = await database.selectFrom('balance').selectAll().execute();
  for (const { account_id, messages, month, premium } of balances) {
    const bounds = history.books.parties.get(account_id)?.bounds;
    const own = lines.filter((line) => line.accountId === account_id && line.month === month);
    const sum = (of: 'messages' | 'premium'): number =>
      own.reduce((total, line) => total + line[of], 0);
    assert.deepEqual([messages, premium], [sum('messages'), sum('premium')]);
    assert.ok(messages <= (bounds?.plain.highest ?? 0), `${messages} of ${account_id} in ${month}`);
    assert.ok(premium <= (bounds?.premium.highest ?? 0));
  }
}
