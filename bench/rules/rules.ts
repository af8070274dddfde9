// Measures the rule engine against json-rules-engine with the same rules and ticks, and the cost of a tick
// with many more rules of other symbols.
import { Engine } from 'json-rules-engine';
import { RuleEngine, type RunningRule } from '../../jobs/rules/ruleEngine.ts';
import { parseConditions } from '../../query/rules/conditions.ts';
import { seeded } from '../../test/soak/crash/rounds/seeded.ts';
import { monotonicMs } from '../../store/base/clock.ts';
import { measureRatio, type Ratio } from '../base/measure.ts';

const SYMBOLS = 500;
const RULES = 10_000;
/** Ticks for json-rules-engine, which takes a second for this many; and for ours. */
const NAIVE_TICKS = 300;
const TICKS = 200_000;

const symbolAt = (at: number): string => `S${at % SYMBOLS}`;

interface Tick {
  readonly symbol: string;
  readonly values: { readonly latestPrice: number; readonly changePercent: number };
}

function generateTicks(count: number, seed: number): readonly Tick[] {
  const random = seeded(seed);
  return Array.from({ length: count }, () => ({
    symbol: symbolAt(random.between(0, SYMBOLS - 1)),
    values: {
      latestPrice: random.between(9_000, 11_000) / 100,
      changePercent: random.next() - 0.5,
    },
  }));
}

const threshold = (at: number): number => 90 + (at % 200) / 10;

const ruleAt = (at: number, symbol: string): RunningRule => ({
  id: `R${at}`,
  event: symbol,
  match: 'all',
  alsoNames: [],
  trigger: 'level',
  conditions: parseConditions(
    [
      ['latestPrice', '>', threshold(at)],
      ['changePercent', '<', -0.45],
    ],
    () => 'number',
  ),
  frequencyMs: 6e4,
});

function buildOurEngine(rules: number): RuleEngine {
  const engine = new RuleEngine();
  for (let at = 0; at < rules; at += 1) engine.setRule(ruleAt(at, symbolAt(at)));
  return engine;
}

/** Returns the milliseconds per tick. */
function runOurs(engine: RuleEngine, ticks: readonly Tick[]): number {
  const fromMs = monotonicMs();
  for (const [at, { symbol, values }] of ticks.entries()) {
    engine.apply({ symbol, values, timeMs: at, secondOfDay: 40_000 });
  }
  return (monotonicMs() - fromMs) / ticks.length;
}

/**
 * Builds an engine per symbol, as its documentation recommends, so that it runs no rules of other symbols.
 */
function buildTheirEngines(): ReadonlyMap<string, Engine> {
  const engines = new Map<string, Engine>();
  for (let at = 0; at < RULES; at += 1) {
    const engine = engines.get(symbolAt(at)) ?? new Engine([], { allowUndefinedFacts: true });
    engines.set(symbolAt(at), engine);
    engine.addRule({
      conditions: {
        all: [
          { fact: 'latestPrice', operator: 'greaterThan', value: threshold(at) },
          { fact: 'changePercent', operator: 'lessThan', value: -0.45 },
        ],
      },
      event: { type: `R${at}` },
    });
  }
  return engines;
}

async function runTheirs(
  engines: ReadonlyMap<string, Engine>,
  ticks: readonly Tick[],
): Promise<number> {
  const fromMs = monotonicMs();
  for (const { symbol, values } of ticks) await engines.get(symbol)?.run({ ...values });
  return (monotonicMs() - fromMs) / ticks.length;
}

export async function benchRules(pairs: number): Promise<readonly (Ratio | string)[]> {
  const engines = buildTheirEngines();
  const engine = buildOurEngine(RULES);
  const many = await measureRatio(
    { name: 'rules: 10,000 over 500 symbols, a tick', target: '50 x json-rules-engine', pairs },
    (round) => Promise.resolve(runOurs(engine, generateTicks(TICKS, round))),
    (round) => runTheirs(engines, generateTicks(NAIVE_TICKS, round)),
  );
  const beside = withOthers(100_000);
  const few = withOthers(1_000);
  const ticks = generateTicks(TICKS, 1).map(({ values }) => ({ symbol: 'MINE', values }));
  const growth = await measureRatio(
    {
      name: 'rules: a tick beside 100,000 rules of other symbols, to beside 1,000',
      target: '>= 0.83',
      pairs,
    },
    () => Promise.resolve(runOurs(beside, ticks)),
    () => Promise.resolve(runOurs(few, ticks)),
  );
  return [many, growth];
}

function withOthers(others: number): RuleEngine {
  const engine = buildOurEngine(others);
  for (let at = 0; at < 20; at += 1) engine.setRule(ruleAt(1_000_000 + at, 'MINE'));
  return engine;
}
