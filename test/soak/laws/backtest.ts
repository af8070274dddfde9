// Compares a rule that ran during a day with its backtest on that day: the same firings at the same times
// with the same values. Minutes are pushed one by one to a real server with an injected clock.
import assert from 'node:assert/strict';
import { openRuleServer, type RuleServer } from '../../api/rules/ruleServer.ts';
import { send } from '../../base/client.ts';
import { seeded } from '../crash/rounds/seeded.ts';

type Random = ReturnType<typeof seeded>;

const SYMBOLS = ['AAA', 'BBB'] as const;
const DAY = '2024-02-29';
/** The opening in New York. */
const OPENS_MS = Date.parse(`${DAY}T14:30:00Z`);
const MINUTES = 40;
const RULES = 12;
const NUMBERS = ['latestPrice', 'change', 'changePercent', 'high', 'low', 'latestVolume'] as const;

interface Firing {
  readonly event: string;
  readonly timestamp: number;
  readonly data: object;
}

/** Compares `count` rules. @returns the numbers of rules and firings */
export async function backtestLaw(count: number, seed: number): Promise<string> {
  const random = seeded(seed);
  let [rules, firings] = [0, 0];
  while (rules < count) {
    firings += await oneDay(random, `seed ${seed}, after ${rules} rules`);
    rules += RULES;
  }
  return `seed ${seed}: ${rules} rules, ${firings} firings`;
}

async function oneDay(random: Random, where: string): Promise<number> {
  await using server = await openRuleServer();
  const ruleBodies = Array.from({ length: RULES }, (_, at) => ruleOf(random, `rule ${at}`));
  const rules: { readonly id: string; readonly body: object }[] = [];
  let prices = [11, 2];
  for (let minute = 0; minute < MINUTES; minute += 1) {
    server.clock.nowMs = OPENS_MS + (minute + 1) * 60_000;
    prices = prices.map((price) => Math.round(price * (97 + random.between(0, 6))) / 100);
    await pushMinute(server, minute, prices);
    // A rule first fires for the values at its creation: here those of the first minute.
    if (minute === 0) {
      for (const body of ruleBodies) rules.push({ id: await server.create(body), body });
    }
    await server.settled();
  }
  let firings = 0;
  for (const { body, id } of rules) {
    const live = await firedLive(server, id);
    const backtestFirings = await firedInPast(server, body);
    assert.deepEqual(backtestFirings, live, `${where}: ${JSON.stringify(body)}`);
    for (const { data, timestamp } of live.slice(0, 2)) {
      const why = (await server.get(`/rules/why/${id}?at=${timestamp}`)) as {
        readonly passes: boolean;
        readonly values: object;
      };
      assert.deepEqual([why.passes, why.values], [true, data], `${where}: why at ${timestamp}`);
    }
    firings += live.length;
  }
  return firings;
}

async function pushMinute(
  { server }: RuleServer,
  minute: number,
  prices: readonly number[],
): Promise<void> {
  const clock = new Date(OPENS_MS - 5 * 3_600_000 + minute * 60_000).toISOString().slice(11, 16);
  const records = prices.map((price, at) => {
    const bar = { open: price, high: price + 0.5, low: price - 0.5, close: price, volume: 100 };
    return { symbol: SYMBOLS[at] ?? '', date: DAY, minute: clock, ...bar, average: price };
  });
  const { status, text } = await send(server, 'POST', '/record/CORE/INTRADAY_PRICES', records);
  assert.equal(status, 200, text);
}

async function firedLive({ get }: RuleServer, id: string): Promise<readonly Firing[]> {
  const alerts = (await get(`/rules/alerts/${id}`)) as readonly Firing[];
  return alerts.map(({ data, event, timestamp }) => ({ event, timestamp, data })).reverse();
}

async function firedInPast({ post }: RuleServer, body: object): Promise<readonly Firing[]> {
  const range = { from: DAY, to: DAY, step: 'minute' };
  const { status, text } = await post('/rules/backtest', { ...body, ...range });
  assert.equal(status, 200, text);
  const { firings } = JSON.parse(text) as { readonly firings: readonly Firing[] };
  return firings.map(({ data, event, timestamp }) => ({ event, timestamp, data }));
}

function ruleOf(random: Random, ruleName: string): object {
  const conditions = Array.from({ length: random.between(1, 3) }, () => conditionOf(random));
  const frequency = random.pick([1, 60, 150, 600]);
  return {
    ruleName,
    ruleSet: random.pick(SYMBOLS),
    type: random.pick(['any', 'all']),
    conditions,
    trigger: random.chance(0.3) ? 'edge' : 'level',
    outputs: [
      {
        method: 'logs',
        frequency,
      },
    ],
    ...(random.chance(0.3) ? { additionalKeys: [random.pick(NUMBERS)] } : {}),
  };
}

function conditionOf(random: Random): readonly unknown[] {
  if (random.chance(0.15)) {
    return ['time', 'within', random.pick(['09:30:00 - 09:50:00', '10:00:00 - 16:00:00'])];
  }
  const name = random.pick(NUMBERS);
  const operator = random.pick(['>', '>=', '<', '<=']);
  if (random.chance(0.2))
    return ['latestPrice', operator, random.pick(['high', 'low', 'previousClose'])];
  const near = {
    latestPrice: 11,
    change: 0,
    changePercent: 0,
    high: 11,
    low: 2,
    latestVolume: 2_000,
  };
  const spread = name === 'changePercent' ? 0.1 : name === 'latestVolume' ? 1_500 : 2;
  return [name, operator, near[name] + (random.between(-100, 100) / 100) * spread];
}
