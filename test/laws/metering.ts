// The law of the ledger without a crash: headers = ledger = usage, for any interleaving.
import assert from 'node:assert/strict';
import { loaded } from '../client.ts';
import { startServer, type TestServer } from '../server.ts';

/** Callers at once (DESIGN.md "Rules of price and ledger"). */
const AT_ONCE = 64;

interface Totals {
  messages: number;
  failures: number;
  readonly byToken: Map<string, number>;
}

async function meterCalls(server: TestServer, calls: number): Promise<Totals> {
  const rows = Array.from(
    { length: 60 },
    (_, at) =>
      `K${at % 6},2020-01-${String(1 + at / 6)
        .slice(0, 1)
        .padStart(2, '0')},${at}`,
  );
  await loaded(server, 'METERED', `symbol,date,v\n${rows.join('\n')}\n`);
  const totals: Totals = { messages: 0, failures: 0, byToken: new Map() };
  const tokens = [server.publishable, server.secret];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let at = next++; at < calls; at = next++) {
      const token = tokens[at % 2] ?? '';
      const bad = at % 10 === 9;
      const query = bad ? 'nonsense=1' : `last=${1 + (at % 7)}`;
      const url = `${server.base}/v1/data/WS/METERED/K${at % 8}?${query}&token=${token}`;
      const answer = await fetch(url);
      await answer.arrayBuffer();
      const messages = Number(answer.headers.get('svccloud-messages-used') ?? 0);
      if (answer.status !== 200) totals.failures += 1;
      totals.messages += messages;
      totals.byToken.set(token, (totals.byToken.get(token) ?? 0) + messages);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return totals;
}

interface UsageView {
  readonly monthlyUsage: number;
  readonly dailyUsage: Readonly<Record<string, number>>;
  readonly tokenUsage: Readonly<Record<string, number>>;
  readonly keyUsage: Readonly<Record<string, number>>;
}

/** Makes calls, a tenth of them refused, and compares headers, ledger and usage. */
export async function meteringLaw(calls: number): Promise<number> {
  await using server = await startServer();
  const totals = await meterCalls(server, calls);
  const answer = await fetch(`${server.base}/v1/account/usage/messages?token=${server.secret}`);
  assert.equal(answer.headers.get('svccloud-messages-used'), '0');
  const usage = (await answer.json()) as UsageView;
  const { ledger } = server.tapedeck.services;
  assert.equal(totals.failures, Math.floor(calls / 10));
  assert.ok(totals.messages > calls / 2);
  assert.deepEqual(ledger.balance(server.tapedeck.accountId), { used: totals.messages, held: 0 });
  assert.equal(usage.monthlyUsage, totals.messages);
  assert.equal(
    Object.values(usage.dailyUsage).reduce((sum, day) => sum + day, 0),
    totals.messages,
  );
  assert.deepEqual(usage.keyUsage, { 'WS.METERED': totals.messages });
  assert.equal(usage.tokenUsage[server.publishable], totals.byToken.get(server.publishable));
  assert.equal(usage.tokenUsage['sk_…0002'], totals.byToken.get(server.secret));
  return totals.messages;
}
