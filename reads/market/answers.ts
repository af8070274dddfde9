// Reads the records of a plan and computes answers from them: long ones in a worker thread.
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { marketType } from '../../market/types/marketTypes.ts';
import { monotonicMs } from '../../store/base/clock.ts';
import type { ReadRequest } from '../request/readRequest.ts';
import { type AnswerItem, ANSWERS_TASK, type ComputedAnswer, computeAnswer } from './answerTask.ts';
import {
  collectInputs,
  type MarketServices,
  parseInputBodies,
  type ReadBody,
  readInputBodies,
  type ReadPlan,
} from './inputReads.ts';

/** Records of one key, as JSON, from which on a thread computes the answers: 1,000 days take 3 ms. */
const LONG_BYTES = 128 * 1024;
/** Of a type whose windows are as long as its records: 200 days take a millisecond. */
const LONG_INTENSIVE_BYTES = 24 * 1024;

/** An answer that `computeAnswers` returned for an item. */
export function requireAnswer(computed: ComputedAnswer | undefined): ComputedAnswer {
  if (computed === undefined) throw new Error('an item has no answer');
  return computed;
}

/**
 * Computes answers from the records of one plan, in the order of their items.
 * @throws Failure TooLarge, TimedOut, ChildLost, Busy.
 */
export async function computeAnswers(
  call: ReadRequest,
  services: Pick<MarketServices, 'series' | 'workers'>,
  plan: ReadPlan,
  items: readonly AnswerItem[],
): Promise<readonly ComputedAnswer[]> {
  const bodies = await readInputBodies(plan, services, call);
  if (isLong(plan, bodies, items)) return computeInThread(call, services, plan, bodies, items);
  const read = await parseInputBodies(plan, bodies);
  const yieldIfDue = createYielder();
  const answers: ComputedAnswer[] = [];
  for (const item of items) {
    answers.push(computeAnswer(item, read));
    if (answers.length < items.length) await yieldIfDue();
  }
  return answers;
}

function isLong(
  { cachedRecords }: ReadPlan,
  bodies: readonly ReadBody[],
  items: readonly AnswerItem[],
): boolean {
  const isIntensive = items.some(({ type }) => marketType(type)?.isIntensive === true);
  const most = isIntensive ? LONG_INTENSIVE_BYTES : LONG_BYTES;
  const cached = [...cachedRecords.values()].flatMap((keys) => [...keys.values()]);
  return (
    bodies.some(
      ({ bytes, read }) => bytes.byteLength > most * Math.max(1, read.group.keys.length),
    ) || cached.some(({ bytes }) => bytes > most)
  );
}

async function computeInThread(
  { caller, departure }: ReadRequest,
  { workers }: Pick<MarketServices, 'workers'>,
  plan: ReadPlan,
  read: readonly ReadBody[],
  items: readonly AnswerItem[],
): Promise<readonly ComputedAnswer[]> {
  const { bodies, groups } = collectInputs(plan, read);
  return workers.run(ANSWERS_TASK, {
    account: caller.accountId,
    input: { items, bodies, groups },
    signal: departure(),
    transfer: bodies.map(({ bytes }) => bytes.buffer),
  });
}

/** Milliseconds of computation before the event loop is yielded. */
const YIELD_AFTER_MS = 5;

/** Yields the event loop when the computation since the last yield took at least `YIELD_AFTER_MS`. */
function createYielder(): () => Promise<void> {
  let sinceMs = monotonicMs();
  return async () => {
    if (monotonicMs() - sinceMs < YIELD_AFTER_MS) return;
    await yieldToEventLoop();
    sinceMs = monotonicMs();
  };
}
