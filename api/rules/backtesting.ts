// Answers `POST /rules/backtest`: when a rule would have fired, and at what cost. It is charged for the bars
// that it runs over, because its answer reveals them.
import type { Body } from '../../store/duckdb/protocol.ts';
import type { Static } from 'typebox';
import { Type } from '../../reads/request/schema.ts';
import {
  type Backtested,
  FIRINGS_LISTED_MAX,
  type Instant,
  explainAt,
} from '../../jobs/rules/backtest.ts';
import {
  BACKTEST_TASK,
  buildPastFacts,
  listNeededFacts,
  type Range,
} from '../../jobs/rules/backtestTask.ts';
import { outputWeight } from '../../jobs/rules/outputs.ts';
import { ANY_SYMBOL, type RunningRule } from '../../jobs/rules/ruleEngine.ts';
import {
  alertWeight,
  allNames,
  parseNamedFact,
  toRunningRule,
} from '../../jobs/rules/runningRule.ts';
import type { InputId } from '../../market/inputs/inputRow.ts';
import { type Need, allRecords } from '../../market/types/typeRequest.ts';
import type { Step } from '../../market/rules/pastFacts.ts';
import { parseDay, REVERSED_RANGE } from '../../query/time/dates.ts';
import { addDays, numberOfDay } from '../../query/time/days.ts';
import { Failure } from '../../store/base/failure.ts';
import type { Rule } from '../../store/work/rules.ts';
import { dayAt } from '../../market/derive/exchangeTime.ts';
import { isForeign, paysPremium } from '../../reads/rights/access.ts';
import { selectReadableInputs } from '../../reads/market/market.ts';
import { buildTypeRequest } from '../../reads/market/options.ts';
import { refuseBinary, renderBody } from '../../reads/request/rendering.ts';
import {
  maxStoredRows,
  planNeeds,
  type ReadableInputs,
  type ReadPlan,
  readPlanBodies,
} from '../../reads/market/inputReads.ts';
import { meterCall } from '../../reads/answer/metering.ts';
import { currentMoment } from '../../reads/series/moments.ts';
import { selectFormat } from '../../reads/answer/format.ts';
import { answerReading } from '../../reads/answer/answerReading.ts';
import type { Call } from '../request/endpoint.ts';
import type { Answer } from '../../reads/request/answer.ts';
import { normalizeSymbol } from '../../reads/stock/knownSymbols.ts';
import { resolveTickers } from '../../reads/stock/symbology.ts';
import { RULE_BODY, checkRule } from './ruleBodies.ts';
import {
  advancedStatsType,
  buildRuleReader,
  type RuleServices,
} from '../../jobs/rules/ruleReaders.ts';

const SYMBOLS_MAX = 50;
const DAY_TEXT = Type.String({ maxLength: 30 });

export const BACKTEST_BODY = Type.Object(
  {
    ...RULE_BODY.properties,
    outputs: Type.Optional(RULE_BODY.properties.outputs),
    from: Type.Optional(DAY_TEXT),
    to: Type.Optional(DAY_TEXT),
    step: Type.Optional(Type.Enum(['minute', 'day'])),
    symbols: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
        minItems: 1,
        maxItems: SYMBOLS_MAX,
      }),
    ),
  },
  { additionalProperties: false },
);

/** Maximum days of a backtest by minutes, and by days. */
const MINUTE_DAYS_MAX = 31;
const DAYS_MAX = 3_660;
/** Days before today, if `from` is missing. */
const DEFAULT_DAYS = 7;
const MINUTES_OF_DAY = 960;
/** Symbols times days of a backtest by minutes: 500 sessions with extended hours are 62 MB of records. */
const SESSIONS_MAX = 500;
const LOGS = [{ method: 'logs', frequency: 60 }];

export async function answerBacktest(call: Call, services: RuleServices): Promise<Answer> {
  const { caller } = call;
  const request = call.json as Static<typeof BACKTEST_BODY>;
  const reader = buildRuleReader(caller, services);
  const { from, outputs = LOGS, step, symbols, to, ...ruleBody } = request;
  const rule = checkRule({ ...ruleBody, outputs }, reader.propertyKind, services.settings);
  const running = toRunningRule({ ...rule, id: 'backtest' }, reader.propertyKind);
  const range = parseRange({ from, to, step }, services.clock());
  const subjects = await resolveSubjects(running, symbols, call, services);
  const named = namedSymbols(running);
  const names = [...new Set([...subjects, ...named])];
  // A rule that only names symbols in its index runs when they change.
  const evaluatedSymbols = subjects.length === 0 ? names : subjects;
  const days = numberOfDay(range.to) - numberOfDay(range.from) + 1;
  refuseManySessions(range, names.length * days);
  const format = selectFormat(call);
  refuseBinary(format);
  const bars: InputId = range.step === 'minute' ? 'INTRADAY_PRICES' : 'HISTORICAL_PRICES';
  const readable = readableBars(call, services);
  const dataset = readable.get(bars);
  const { endpoint, requestId } = call;
  const premium = dataset !== undefined && paysPremium(caller, dataset, services.lake);
  const barWeight = dataset?.weight ?? 1;
  const order = { requestId, endpoint, usageKey: 'BACKTEST', weight: barWeight, premium };
  const most = evaluatedSymbols.length * days * (range.step === 'minute' ? MINUTES_OF_DAY : 1);
  const output = outputWeight(rule.body);
  const weight = alertWeight(allNames(running), output, reader.weightOfNamed);
  const planned = await planPastRecords(names, range, { call, readable, services });
  const foreign = dataset !== undefined && isForeign(caller, dataset, services.lake);
  const bound = (): number => Math.max(1, Math.min(most, maxRowsOf(bars, planned.plan)));
  const fare = {
    order,
    most,
    least: foreign ? 1 : 0,
    upperBound: foreign ? bound : undefined,
  };
  const run = async (): Promise<Body> => {
    const bodies = await readPlanBodies(planned.plan, services, call);
    const input = {
      rule: running,
      range,
      evaluated: evaluatedSymbols,
      symbols: names,
      needs: planned.needs,
      bodies,
    };
    const { accountId } = caller;
    const signal = call.departure();
    const transfer = bodies.map(({ bytes }) => bytes.buffer);
    const order = { account: accountId, input, signal, transfer };
    const result = await services.workers.run(BACKTEST_TASK, order);
    const view = {
      ...range,
      symbols: evaluatedSymbols,
      ...toView(result, weight, result.instants),
    };
    return renderBody(view, result.instants, format);
  };
  const moment = currentMoment(services);
  return answerReading(call, {
    format,
    snapshot: moment.snapshot,
    moment,
    tag: undefined,
    datasets: dataset === undefined ? [] : [dataset],
    meter: () => meterCall(call, services, caller, fare, run),
  });
}

/**
 * Evaluates a rule for a symbol as of a past instant, even if it did not run then.
 * @throws Failure InvalidParameter for records of datasets; access failures of the bars
 */
export async function evaluateRuleAt(
  rule: Pick<Rule, 'body' | 'event' | 'id'>,
  { symbol, timeMs }: Instant,
  call: Call,
  services: RuleServices,
): Promise<object> {
  const reader = buildRuleReader(call.caller, services);
  const running = toRunningRule(rule, reader.propertyKind);
  const names = [...new Set([symbol, ...namedSymbols(running)])].filter((name) => name !== '');
  const day = dayAt(timeMs);
  const readable = readableBars(call, services);
  const range: Range = { from: day, to: day, step: 'minute' };
  const { needs, plan } = await planPastRecords(names, range, { call, readable, services });
  const bodies = await readPlanBodies(plan, services, call);
  const past = buildPastFacts(names, needs, bodies, listNeededFacts(running));
  return explainAt(running, { symbol, timeMs }, (one) => past.get(one)) ?? {};
}

/** @throws Failure InvalidParameter */
function refuseManySessions({ step }: Range, sessions: number): void {
  if (step !== 'minute' || sessions <= SESSIONS_MAX) return;
  const rule = 'use step day, fewer days or fewer symbols';
  throw new Failure(
    'InvalidParameter',
    `symbols times days is at most ${SESSIONS_MAX} by minute, not ${sessions}; ${rule}`,
  );
}

/** The most bars of an input that a plan reads: a backtest is charged for each minute, not for 50 a day. */
const maxRowsOf = (input: InputId, { reads }: ReadPlan): number =>
  reads
    .filter(({ group }) => group.input === input)
    .reduce((sum, read) => sum + maxStoredRows(read), 0);

interface RangeRequest {
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly step: Step | undefined;
}

/** @throws Failure InvalidParameter. */
function parseRange(request: RangeRequest, nowMs: number): Range {
  const to = request.to === undefined ? dayAt(nowMs) : parseDay('to', request.to);
  const from =
    request.from === undefined ? addDays(to, -DEFAULT_DAYS) : parseDay('from', request.from);
  const days = numberOfDay(to) - numberOfDay(from) + 1;
  if (days < 1) throw new Failure('InvalidParameter', REVERSED_RANGE);
  const step = request.step ?? (days <= MINUTE_DAYS_MAX ? 'minute' : 'day');
  const most = step === 'minute' ? MINUTE_DAYS_MAX : DAYS_MAX;
  if (days > most) {
    const rule = step === 'minute' ? '; use step day, or request fewer days' : '';
    throw new Failure('InvalidParameter', `from to to has at most ${most} days by ${step}${rule}`);
  }
  return { from, to, step };
}

/** Selects the symbols of a backtest. @throws Failure InvalidParameter if they are missing or not allowed. */
async function resolveSubjects(
  { event }: RunningRule,
  symbols: readonly string[] | undefined,
  call: Call,
  services: RuleServices,
): Promise<readonly string[]> {
  if (event !== ANY_SYMBOL && symbols !== undefined) {
    throw new Failure('InvalidParameter', `symbols is for rules of ${ANY_SYMBOL}`);
  }
  if (event === ANY_SYMBOL && symbols === undefined) {
    throw new Failure('InvalidParameter', `symbols is required for rules of ${ANY_SYMBOL}`);
  }
  const named = symbols ?? [event];
  const some = named.map(normalizeSymbol).filter((symbol) => symbol !== '');
  return [...new Set(await resolveTickers([...new Set(some)], call, services))];
}

/** Lists the symbols that a rule names. @throws Failure InvalidParameter for records of datasets. */
const namedSymbols = (rule: RunningRule): readonly string[] =>
  allNames(rule).flatMap((name) => {
    const named = parseNamedFact(name);
    if (named === undefined) return [];
    if (named.namespace === 'STOCK') return [named.entity.toUpperCase()];
    throw new Failure('InvalidParameter', `index has symbols alone in a backtest, not ${name}`);
  });

function readableBars(call: Call, { clock, lake }: RuleServices): ReadableInputs {
  const type = advancedStatsType();
  return selectReadableInputs(type, type.needs(buildTypeRequest('', {}, clock())), call, lake);
}

interface ReadContext {
  readonly call: Call;
  readonly readable: ReadableInputs;
  readonly services: RuleServices;
}

interface PastRecords {
  readonly plan: ReadPlan;
  readonly needs: readonly Need[];
}

/** Plans the reads of the records of all symbols. */
async function planPastRecords(
  symbols: readonly string[],
  { from, step, to }: Range,
  { call, readable, services }: ReadContext,
): Promise<PastRecords> {
  const type = advancedStatsType();
  const typeNeeds = symbols.flatMap((symbol) =>
    type.needs(buildTypeRequest(symbol, {}, services.clock())),
  );
  const ticks = ['TRADES', 'QUOTES', 'INTRADAY_PRICES'];
  const wholes = typeNeeds
    .filter(({ input }) => !ticks.includes(input))
    .map(({ input, key }) => allRecords(input, key));
  const minutes = symbols.map((key): Need => ({
    input: 'INTRADAY_PRICES',
    key,
    window: {
      kind: 'days',
      from,
      to,
    },
  }));
  const needs = [...wholes, ...(step === 'minute' ? minutes : [])];
  const named = new Map(needs.map((need) => [`${need.input} ${need.key}`, need] as const));
  // Without rows of memory, which are parsed already.
  const bare = { ...call, query: { cache: false }, path: {} };
  const moment = currentMoment(services);
  const plan = await planNeeds(bare, services, readable, [...named.values()], moment);
  return { plan, needs: [...named.values()] };
}

const toView = (backtested: Backtested, weight: number, instants: number): object => ({
  instants,
  evaluated: backtested.evaluated,
  passed: backtested.passed,
  alerts: backtested.fired,
  weight,
  messages: backtested.fired * weight,
  conditions: backtested.conditions,
  ...(backtested.fired > FIRINGS_LISTED_MAX ? { firingsTold: FIRINGS_LISTED_MAX } : {}),
  firings: backtested.firings.map(({ symbol, timeMs, values }) => ({
    timestamp: timeMs,
    event: symbol,
    data: values,
  })),
});
