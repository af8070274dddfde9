// Quota, budget, circuit breaker, token and premium limits under 64 concurrent callers: exactly as many
// calls pass as the limit covers, with limits one message below, at and above a round number.
import assert from 'node:assert/strict';
import type { AccountSettings } from '../../../store/accounts/accountRows.ts';
import { seeded } from '../crash/rounds/seeded.ts';
import { startServer, type TestServer } from '../../base/server.ts';

const AT_ONCE = 64;
const WEIGHTS = [1, 7, 1_000, 100_000] as const;
/** Messages of the launch tier. */
const QUOTA = 5_000_000;

/** A kind of limit, and the status of calls beyond it. */
interface Rule {
  readonly name: string;
  readonly status: 402 | 403;
  /** Settings that leave `limit` messages, including those used before. */
  readonly settings: (limit: number) => Partial<AccountSettings>;
  readonly tokenLimit?: true;
}

const RULES: readonly [Rule, ...Rule[]] = [
  { name: 'budget', status: 402, settings: (limit) => ({ budget: limit }) },
  {
    name: 'circuit breaker',
    status: 403,
    settings: (limit) => ({ circuitBreaker: Math.max(0, limit - QUOTA) }),
  },
  { name: 'token limit', status: 402, settings: () => ({}), tokenLimit: true },
];

interface Case {
  readonly rule: Rule;
  readonly weight: number;
  /** Number of calls that the limit covers, and its offset from that in messages. */
  readonly calls: number;
  readonly off: -1 | 0 | 1;
}

/** Plays `count` cases from a seed; each makes 64 calls of one record at once. */
export async function limitsLaw(count: number, seed: number): Promise<number> {
  await using server = await startServer();
  const random = seeded(seed);
  let passed = 0;
  for (let at = 0; at < count; at += 1) {
    const one = {
      rule: random.pick(RULES),
      weight: random.pick(WEIGHTS),
      calls: random.between(1, AT_ONCE - 1),
      off: random.pick([-1, 0, 1] as const),
    };
    passed += await playCase(server, one, at);
  }
  return passed;
}

async function playCase(server: TestServer, one: Case, at: number): Promise<number> {
  const { rule, weight, calls, off } = one;
  const label = `case ${at}: ${rule.name}, weight ${weight}, ${calls} calls ${off}`;
  const { accounts, ledger } = server.tapedeck.services;
  const accountId = await accounts.createAccount(`case ${at}`, 'launch');
  await setWeight(server, weight);
  const base = rule.name === 'circuit breaker' ? QUOTA : 0;
  const limit = Math.max(0, calls * weight + off);
  const settings = rule.tokenLimit === true ? { messageLimit: limit } : {};
  const { text } = await accounts.createToken(accountId, 'publishable', settings);
  await accounts.changeAccount(accountId, rule.settings(base + limit));
  if (base > 0) await spend(server, accountId, base);
  const url = `${server.base}/v1/data/CORE/D/A?token=${text}`;
  const answers = await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      const answer = await fetch(url);
      await answer.arrayBuffer();
      return [answer.status, Number(answer.headers.get('svccloud-messages-used') ?? 0)] as const;
    }),
  );
  const expected = Math.min(AT_ONCE, Math.floor(limit / weight));
  const good = answers.filter(([status]) => status === 200);
  assert.equal(good.length, expected, label);
  assert.ok(
    good.every(([, messages]) => messages === weight),
    label,
  );
  const refused = answers.filter(([status]) => status !== 200);
  assert.ok(
    refused.every(([status, messages]) => status === rule.status && messages === 0),
    label,
  );
  assert.deepEqual(ledger.balance(accountId), { used: base + expected * weight, held: 0 }, label);
  return good.length;
}

/** Sets the weight of the dataset that every account reads. */
async function setWeight(server: TestServer, weight: number): Promise<void> {
  const headers = { authorization: `Bearer ${server.secret}` };
  const { lake } = server.tapedeck.services;
  if (lake.directory.dataset('CORE', 'D') === undefined) {
    const load = `${server.base}/v1/data/CORE/D?wait=true&key=symbol&date=date`;
    await fetch(load, { method: 'POST', headers, body: 'symbol,date,v\nA,2020-01-01,1\n' });
  }
  const init = { method: 'PATCH', headers, body: JSON.stringify({ weight }) };
  const answer = await fetch(`${server.base}/v1/datasets/CORE/D`, init);
  assert.equal(answer.status, 200, await answer.text());
}

/** Spends messages as a call does. */
async function spend(server: TestServer, accountId: string, messages: number): Promise<void> {
  const { accounts, ledger } = server.tapedeck.services;
  const { text } = await accounts.createToken(accountId, 'secret');
  const names = { requestId: 'spent', endpoint: 'queryData', usageKey: 'CORE.D' };
  const order = { ...names, weight: messages, premium: false };
  ledger.settle(ledger.hold(accounts.identify(text), order, 1), 1).confirm();
}
