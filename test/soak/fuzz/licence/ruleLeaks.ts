// Rules over licensed data, in two worlds that differ in a price: for any actions of a tenant with its rules,
// both worlds return the same answers until it has paid at least the cost of reading the price. Thresholds
// are between the two prices, as in a bisection.
import { openRuleServer, type RuleServer } from '../../../api/rules/ruleServer.ts';
import { seeded, type Seeded } from '../../crash/rounds/seeded.ts';

const ACTIONS = 12;
/** Messages that a limited token may spend. */
const LIMITS = [0, 0, 1, 3, undefined] as const;
/** Price of `/stock/AAA/quote/latestPrice`. */
const READ_PRICE = 1;

/** A tenant in one of the worlds. */
interface Tenant {
  readonly world: RuleServer;
  readonly accountId: string;
  readonly token: string;
  /** The price in this world, derived from a common one. */
  readonly secret: (at: number) => number;
  ruleId: string;
}

interface Seen {
  readonly text: string;
  readonly used: number;
}

interface RuleLeaksReport {
  readonly failures: readonly string[];
  readonly answers: number;
  /** Programs that learnt the price, and paid for it. */
  readonly learnt: number;
}

/** Plays `count` programs, each with a new tenant. */
export async function ruleLeaksLaw(count: number, seed: number): Promise<RuleLeaksReport> {
  await using one = await openRuleServer({ TAPEDECK_RATE_LIMIT: 'off' });
  await using other = await openRuleServer({ TAPEDECK_RATE_LIMIT: 'off' });
  const report = { failures: [] as string[], answers: 0, learnt: 0 };
  for (let at = 0; at < count; at += 1) {
    const programSeed = seed * 1_000_003 + at;
    const end = await playProgram([one, other], programSeed);
    report.answers += end.answers;
    if (end.failure !== undefined) report.failures.push(`seed ${programSeed}: ${end.failure}`);
    if (end.isLearnt) report.learnt += 1;
  }
  return report;
}

interface End {
  readonly answers: number;
  readonly isLearnt: boolean;
  readonly failure?: string;
}

async function playProgram(worlds: readonly RuleServer[], seed: number): Promise<End> {
  const random = seeded(seed);
  const limit = random.pick(LIMITS);
  const tenants = [];
  for (const [at, world] of worlds.entries()) {
    tenants.push(await makeTenant(world, limit, (price) => price + at * 0.5));
  }
  let answers = 0;
  const done: string[] = [];
  for (let step = 0; step < ACTIONS; step += 1) {
    const action = nextAction(random, step === 0);
    done.push(action.name);
    // Sometimes without reading, so that effects of a delayed read are tested too.
    const looks = random.chance(0.7);
    const results: Seen[] = [];
    for (const tenant of tenants) results.push(await observed(tenant, action, looks));
    answers += results.length;
    const [a, b] = results;
    if (a === undefined || b === undefined || a.text === b.text) continue;
    const paid = Math.max(a.used, b.used);
    await endProgram(tenants);
    if (paid >= READ_PRICE) return { answers, isLearnt: true };
    const failure = `${done.join(', ')} with a limit of ${limit}\n${firstDifference(a.text, b.text)}`;
    return { answers, isLearnt: false, failure };
  }
  await endProgram(tenants);
  return { answers, isLearnt: false };
}

interface Action {
  readonly name: string;
  readonly run: (tenant: Tenant) => Promise<string>;
}

/** Between the prices of both worlds, or far from them. */
const threshold = (random: Seeded): number => 10 + random.pick([0.25, 0.25, 0.25, -9, 9, 0, 0.5]);

function nextAction(random: Seeded, isFirst: boolean): Action {
  const kind = isFirst ? 0 : random.between(0, 11);
  if (kind <= 3) return saveRule(random);
  if (kind <= 6) return trade(random);
  if (kind === 7) return named('pause', (tenant) => call(tenant, 'POST', '/rules/pause', BY_QUERY));
  if (kind === 8)
    return named('resume', (tenant) => call(tenant, 'POST', '/rules/resume', BY_QUERY));
  if (kind === 9) return named('why', (tenant) => call(tenant, 'GET', `/rules/why/${ID}`));
  if (kind === 10) return testRule(random);
  return wait(random);
}

const named = (name: string, run: Action['run']): Action => ({ name, run });

const ID = ':id';
const BY_QUERY = { ruleId: ID };

function ruleOf(random: Seeded): object {
  const operator = random.pick(['>', '<', '>=', '=='] as const);
  const frequency = random.pick([60, 3_600, 86_400] as const);
  return {
    ruleSet: 'AAA',
    ruleName: 'r',
    conditions: [['latestPrice', operator, threshold(random)]],
    outputs: [{ method: 'logs', frequency }],
  };
}

/** The first call creates the rule, later ones edit it. */
function saveRule(random: Seeded): Action {
  const rule = ruleOf(random);
  return named(`save ${JSON.stringify(rule)}`, async (tenant) => {
    const id = tenant.ruleId === '' ? {} : { id: tenant.ruleId };
    const text = await call(tenant, 'POST', '/rules/create', { ...rule, ...id });
    const { id: createdId } = parsed(text.slice(text.indexOf('{'))) as { readonly id?: string };
    tenant.ruleId = createdId ?? tenant.ruleId;
    return text;
  });
}

/** Both worlds trade at their own prices, or at the same one. */
function trade(random: Seeded): Action {
  const isSecret = random.chance(0.6);
  const price = isSecret ? 10 : random.pick([1, 10.25, 30]);
  return named(`trade ${isSecret ? 'secretly' : price}`, async ({ secret, world }) => {
    world.clock.nowMs += 1_000;
    world.trade('AAA', isSecret ? secret(price) : price);
    return '';
  });
}

function wait(random: Seeded): Action {
  const ms = random.pick([1_000, 60_000, 3_600_000]);
  return named(`wait ${ms}`, async ({ world }) => {
    world.clock.nowMs += ms;
    return '';
  });
}

function testRule(random: Seeded): Action {
  const { conditions, ruleSet } = ruleOf(random) as { conditions: unknown; ruleSet: string };
  const range = { from: '2024-02-27', to: '2024-02-28' };
  const more = random.pick<Readonly<Record<string, unknown>>>([
    {},
    { estimate: true },
    { maxMessages: 0 },
  ]);
  const body = { ruleSet, conditions, ...range };
  return named('backtest', (tenant) => call(tenant, 'POST', '/rules/backtest', more, body));
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
};

async function makeTenant(
  world: RuleServer,
  limit: number | undefined,
  secret: Tenant['secret'],
): Promise<Tenant> {
  const { accounts } = world.server.tapedeck.services;
  const accountId = await accounts.createAccount('Tenant', 'scale');
  const settings = limit === undefined ? {} : { messageLimit: limit };
  const { text: token } = await accounts.createToken(accountId, 'secret', settings);
  return { world, accountId, token, secret, ruleId: '' };
}

/** A rule that stays would run in later programs. */
async function endProgram(tenants: readonly Tenant[]): Promise<void> {
  for (const tenant of tenants) {
    await tenant.world.settled();
    await call(tenant, 'DELETE', `/rules/${ID}`);
    tenant.world.trade('AAA', 20);
  }
}

/** Sends a tenant's request about its rule, with parameters in the query or in a body; returns the answer. */
async function call(
  { ruleId, token, world }: Tenant,
  method: string,
  path: string,
  query: Readonly<Record<string, unknown>> = {},
  body?: object,
): Promise<string> {
  const isRule = path === '/rules/create';
  const url = new URL(`${world.server.base}/v1${path.replace(ID, ruleId)}`);
  if (!isRule) {
    for (const [name, value] of Object.entries(query)) {
      url.searchParams.set(name, value === ID ? ruleId : String(value));
    }
  }
  const sent = isRule ? query : body;
  const answer = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(sent === undefined ? {} : { body: JSON.stringify(sent) }),
  });
  const used = answer.headers.get('svccloud-messages-used') ?? '';
  return `${answer.status} ${used} ${await answer.text()}`;
}

/** The views that a tenant reads. */
const VIEWS = [
  `/rules/info/${ID}`,
  '/rules',
  `/rules/alerts/${ID}`,
  `/rules/deliveries/${ID}`,
  `/rules/output/${ID}`,
  '/account/usage/rules',
  '/account/usage/rule-records',
  '/account/usage/alerts',
  '/account/usage/alert-records',
  '/account/usage/messages',
  '/logs/WS',
  '/account/metadata',
] as const;

/** Runs an action; returns its answer and the tenant's views after it. */
async function observed(tenant: Tenant, { run }: Action, looks: boolean): Promise<Seen> {
  const texts = [await run(tenant)];
  await tenant.world.settled();
  if (looks) for (const view of VIEWS) texts.push(await call(tenant, 'GET', view));
  const { ledger } = tenant.world.server.tapedeck.services;
  return { text: plain(texts.join('\n'), tenant), used: ledger.balance(tenant.accountId).used };
}

/** Removes the parts of a text that differ each time. */
const plain = (text: string, { accountId, ruleId, token }: Tenant): string =>
  text
    .replaceAll(ruleId === '' ? '\u0000' : ruleId, ID)
    .replaceAll(accountId, 'ACCOUNT')
    .replaceAll(token, 'TOKEN')
    .replaceAll(/"date(?:Created|Updated)":"[^"]*"/g, '')
    .replaceAll(/"alertId":"[^"]*"|sk_…[0-9a-f]+|\([0-9A-F]{14}\)/g, '');

function firstDifference(a: string, b: string): string {
  const [left, right] = [a.split('\n'), b.split('\n')];
  const at = left.findIndex((line, index) => line !== right[index]);
  return `${left[at]?.slice(0, 1_500)}\n${right[at]?.slice(0, 1_500)}`;
}
