// The law of the ledger without crashes: headers = ledger = usage = journal, for any interleaving of calls
// that are charged, free, refused, estimated or capped.
import assert from 'node:assert/strict';
import { verifyLedger } from '../../../jobs/upkeep/verifyLedger.ts';
import { loaded } from '../../base/client.ts';
import { type Seeded, seeded } from '../crash/rounds/seeded.ts';
import { startServer, type TestServer } from '../../base/server.ts';

/** Concurrent callers (DESIGN.md "Rules of price and ledger"). */
const AT_ONCE = 64;

/** Datasets by the price of one object. */
const WEIGHTS = { METERED: 1, SEVEN: 7, FREE: 0, DEAR: 100_000 } as const;
const READS = 'symbol,date,v\n';

interface Sum {
  messages: number;
  premium: number;
}

interface Party {
  readonly accountId: string;
  readonly tokens: readonly string[];
  /** Sums of the headers, by token. */
  readonly sums: Map<string, Sum>;
}

interface Law {
  readonly server: TestServer;
  readonly owner: Party;
  readonly customer: Party;
}

async function prepare(server: TestServer): Promise<Law> {
  const rows = Array.from({ length: 60 }, (_, at) => `K${at % 6},2020-01-${10 + (at % 20)},${at}`);
  const headers = { authorization: `Bearer ${server.secret}` };
  const send = async (method: string, path: string, body: unknown): Promise<void> => {
    const init = { method, headers, body: JSON.stringify(body) };
    const answer = await fetch(`${server.base}/v1${path}`, init);
    assert.equal(answer.status, 200, await answer.text());
  };
  for (const [name, weight] of Object.entries(WEIGHTS)) {
    await loaded(server, name, `${READS}${rows.join('\n')}\n`);
    await send('PATCH', `/datasets/WS/${name}`, { weight });
  }
  await send('POST', '/workspaces', { name: 'CORE' });
  for (const [name, level] of [
    ['OPEN', 'open'],
    ['PREMIUM', 'premium'],
  ] as const) {
    const url = `${server.base}/v1/data/CORE/${name}?wait=true`;
    const answer = await fetch(url, {
      method: 'POST',
      headers,
      body: `${READS}${rows.join('\n')}\n`,
    });
    assert.equal(answer.status, 200, await answer.text());
    await send('PATCH', `/datasets/CORE/${name}`, { weight: 3, access: { level } });
  }
  const { accounts } = server.tapedeck.services;
  const customer = await accounts.createAccount('customer', 'scale');
  await accounts.changeAccount(customer, { premiumMessages: 1_000_000_000 });
  const kinds = ['publishable', 'secret'] as const;
  const tokens = [];
  for (const kind of kinds) tokens.push((await accounts.createToken(customer, kind)).text);
  const { accountId } = server.tapedeck;
  return {
    server,
    owner: { accountId, tokens: [server.publishable, server.secret], sums: new Map() },
    customer: { accountId: customer, tokens, sums: new Map() },
  };
}

interface Call {
  readonly party: Party;
  readonly token: string;
  readonly path: string;
  /** Allowed statuses. */
  readonly statuses: readonly number[];
}

/** A random call; a tenth of them read records, the rest are other typical requests. */
function callOf(law: Law, random: Seeded): Call {
  const party = random.chance(0.7) ? law.owner : law.customer;
  const token = random.pick([party.tokens[0] ?? '', party.tokens[1] ?? '']);
  const ok = (path: string): Call => ({ party, token, path, statuses: [200] });
  const own = random.pick(['METERED', 'METERED', 'SEVEN', 'FREE', 'DEAR'] as const);
  const core = random.pick(['OPEN', 'PREMIUM'] as const);
  const place = party === law.owner ? `WS/${own}` : `CORE/${core}`;
  const read = `/data/${place}/K${random.between(0, 7)}?last=${1 + random.between(0, 6)}`;
  const dice = random.between(0, 99);
  if (dice < 7) return ok(read);
  if (dice < 9)
    return ok(`/time-series/${place.replace('/', '.')}/k${random.between(0, 7)}?limit=2`);
  if (dice < 10) return ok(`${read}&estimate=true`);
  if (dice < 12) return { party, token, path: `${read}&maxMessages=6`, statuses: [200, 402] };
  if (dice < 35) return { party, token, path: `${read}&nonsense=1`, statuses: [400] };
  if (dice < 65) return { party, token: 'pk_unknown', path: read, statuses: [403] };
  if (dice < 75) return ok('/time-series');
  if (dice < 85) return ok('/data');
  if (dice < 95) return { party, token, path: '/data/NOWHERE/X?last=1', statuses: [404] };
  return { party, token, path: `/data/${place}?schema=true`, statuses: [200] };
}

async function play({ server }: Law, { party, token, path, statuses }: Call): Promise<void> {
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(`${server.base}/v1${path}`, { headers });
  const body = await answer.text();
  assert.ok(statuses.includes(answer.status), `${path}: ${answer.status} ${body.slice(0, 200)}`);
  const header = (name: string): number => Number(answer.headers.get(`svccloud-${name}-used`) ?? 0);
  const [messages, premium] = [header('messages'), header('premium-messages')];
  if (answer.status !== 200) assert.equal(messages + premium, 0, `${path} was refused`);
  const sum = party.sums.get(token) ?? { messages: 0, premium: 0 };
  sum.messages += messages;
  sum.premium += premium;
  party.sums.set(token, sum);
}

/** Plays `calls` calls, 64 at a time, and compares headers, ledger, usage and journal. */
export async function meteringLaw(calls: number, seed: number): Promise<number> {
  await using server = await startServer();
  const law = await prepare(server);
  const random = seeded(seed);
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next++ < calls) await play(law, callOf(law, random));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  let all = 0;
  for (const party of [law.owner, law.customer]) all += await compare(law, party);
  const { journal } = server.tapedeck.services;
  const verdict = await verifyLedger(journal);
  assert.deepEqual(verdict.faults, []);
  assert.equal(verdict.messages + verdict.premium, all);
  assert.ok(all > calls / 10);
  return all;
}

interface UsageView {
  readonly monthlyUsage: number;
  readonly monthlyPremium: number;
  readonly dailyUsage: Readonly<Record<string, number>>;
  readonly tokenUsage: Readonly<Record<string, number>>;
  readonly keyUsage: Readonly<Record<string, number>>;
}

/** Compares one account's headers with ledger and usage; returns its messages of both kinds. */
async function compare({ server }: Law, { accountId, tokens, sums }: Party): Promise<number> {
  const [publishable = '', secret = ''] = tokens;
  const url = `${server.base}/v1/account/usage/messages?token=${secret}`;
  const usage = (await (await fetch(url)).json()) as UsageView;
  const { ledger } = server.tapedeck.services;
  const parts = [...sums.values()];
  const messages = parts.reduce((sum, part) => sum + part.messages, 0);
  const premium = parts.reduce((sum, part) => sum + part.premium, 0);
  assert.deepEqual(ledger.balance(accountId), { used: messages, held: 0 });
  assert.deepEqual(ledger.premiumBalance(accountId), { used: premium, held: 0 });
  assert.deepEqual([usage.monthlyUsage, usage.monthlyPremium], [messages, premium]);
  const total = (counts: Readonly<Record<string, number>>): number =>
    Object.values(counts).reduce((sum, count) => sum + count, 0);
  assert.deepEqual([total(usage.dailyUsage), total(usage.keyUsage)], [messages, messages]);
  assert.equal(usage.tokenUsage[publishable] ?? 0, sums.get(publishable)?.messages ?? 0);
  const maskedToken = `sk_…${secret.slice(-4)}`;
  assert.equal(usage.tokenUsage[maskedToken] ?? 0, sums.get(secret)?.messages ?? 0);
  return messages + premium;
}
