// Types of a batch that are computed: what is known, and for the rest one plan and one read for all of them.
import { setImmediate as othersTurn } from 'node:timers/promises';
import type { Ask, Need, Read } from '../../market/types/ask.ts';
import type { MarketType } from '../../market/types/marketTypes.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';
import type { Body } from '../../store/duckdb/protocol.ts';
import { monotonicMs } from '../../store/base/clock.ts';
import type { Moment } from '../../store/lake/history/history.ts';
import { callerOf } from '../auth/access.ts';
import type { Fare } from '../read/metering.ts';
import type { Call } from '../request/endpoint.ts';
import { type Asked, findAnswer, keepAnswer } from './answers.ts';
import { delayFor, readableFor, rendered } from './market.ts';
import { askOf, optionsOf, refuseContradictions } from './options.ts';
import { fareOfType, mostOf } from './pricing.ts';
import { type MarketServices, planNeeds, type Readable, readPlanned } from './reading.ts';

export interface ComputedBatch {
  readonly snapshot: number;
  readonly moment: Moment;
  /** All that is read for the answer. */
  readonly datasets: readonly Dataset[];
  readonly fareOf: (type: MarketType) => Fare;
  /** The answer of a type for each symbol, in their order. */
  readonly bodiesOf: (type: MarketType) => Promise<readonly Body[]>;
}

/** One type for all symbols: some answers are known already. */
interface TypeAsked {
  readonly asked: readonly Asked[];
  readonly known: ReadonlyMap<Asked, NonNullable<ReturnType<typeof findAnswer>>>;
}

export async function computedBatch(
  call: Call,
  services: MarketServices,
  types: readonly MarketType[],
  symbols: readonly string[],
  at: Moment,
): Promise<ComputedBatch> {
  const nowMs = services.clock();
  const caller = callerOf(call.caller);
  const all = new Map(
    types.map((type) => [type, askedOf(type, symbols, call, services, nowMs)] as const),
  );
  const readable = allReadable([...all.values()].flatMap(({ asked }) => asked.slice(0, 1)));
  const tableIds = [...readable.values()].map(({ tableId }) => tableId);
  const stamps = services.market.stampsOf(tableIds, services);
  const open = [...all.values()].flatMap(({ asked, known }) =>
    asked.filter((one) => !known.has(one)),
  );
  const needs = open.flatMap(({ ask, wanted }) => wanted.needs(ask));
  const planned = await planNeeds(call, services, readable, needs, at);
  const known = [...all.values()].flatMap((of) => [...of.known.values()]);
  const snapshot = Math.max(planned.snapshot, ...known.map((answer) => answer.snapshot));
  let reading: Promise<Read> | undefined;
  const turn = turns();
  const answered = async (one: Asked, of: TypeAsked): Promise<Body> => {
    const before = of.known.get(one);
    if (before !== undefined) return before.body;
    reading ??= readPlanned(planned, services, call);
    const read = await reading;
    const body = await rendered(call, one.wanted, one.ask, read, 'json');
    const most = mostOf(one.wanted, [one.ask], planned, true);
    keepAnswer(one, { body, snapshot: planned.snapshot, tag: undefined, most }, read, stamps);
    return body;
  };
  return {
    snapshot,
    moment: planned.moment,
    datasets: [...readable.values()],
    fareOf: (type) => {
      const of = all.get(type) ?? NONE;
      const asks = of.asked.map(({ ask }) => ask);
      const left = of.asked.filter((one) => !of.known.has(one)).map(({ ask }) => ask);
      const most = (foreign: boolean): number =>
        knownMost(of, foreign) + mostOf(type, left, planned, foreign);
      return fareOfType(call, caller, type, asks, most, readable, services);
    },
    bodiesOf: async (type) => {
      const of = all.get(type) ?? NONE;
      const bodies: Body[] = [];
      for (const one of of.asked) {
        bodies.push(await answered(one, of));
        if (!of.known.has(one)) await turn();
      }
      return bodies;
    },
  };
}

/** Milliseconds of computing before others have their turn of the loop. */
const TURN_MS = 5;

/** Lets others have their turn, when what was computed since the last one took its time. */
function turns(): () => Promise<void> {
  let sinceMs = monotonicMs();
  return async () => {
    if (monotonicMs() - sinceMs < TURN_MS) return;
    await othersTurn();
    sinceMs = monotonicMs();
  };
}

const NONE: TypeAsked = { asked: [], known: new Map() };

function askedOf(
  type: MarketType,
  symbols: readonly string[],
  call: Call,
  services: MarketServices,
  nowMs: number,
): TypeAsked {
  const options = optionsOf(type, call.query, false);
  refuseContradictions(type, options);
  // What a type needs is the same for each symbol, but for the key.
  const readable = readableFor(type, type.needs(askOf('', options, nowMs)), call, services.lake);
  const untilMs = nowMs - delayFor(callerOf(call.caller), readable, services.lake);
  const of = { call, services, wanted: type, readable, format: 'json' } as const;
  const asked = symbols.map((symbol): Asked => {
    const ask: Ask = askOf(symbol, options, nowMs, untilMs);
    return { ...of, ask };
  });
  const known = asked.flatMap((one) => {
    const answer = findAnswer(one);
    return answer === undefined ? [] : [[one, answer] as const];
  });
  return { asked, known: new Map(known) };
}

function allReadable(asked: readonly Asked[]): Readable {
  const all = new Map<Need['input'], Dataset>();
  for (const { readable } of asked) {
    for (const [input, dataset] of readable) all.set(input, dataset);
  }
  return all;
}

const knownMost = ({ known }: TypeAsked, foreign: boolean): number =>
  [...known.values()].reduce((sum, { body, most }) => sum + (foreign ? most : body.objects), 0);
