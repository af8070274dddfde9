// Computes answers of market types from the records of their inputs, here or in a worker thread.
import { unchangedUntil } from '../../market/types/answerLifetime.ts';
import { type InputBody, readBodies, type RowsByKey } from '../../market/types/inputRows.ts';
import { type MarketType, marketType } from '../../market/types/marketTypes.ts';
import type { Read, TypeRequest } from '../../market/types/typeRequest.ts';
import type { BodyFormat } from '../../store/duckdb/protocol.ts';
import type { WorkerTask } from '../../workers/workerTask.ts';
import { filterAttributes, findNestedRows, renderText } from '../request/rendering.ts';
import { resolveAttribute } from './attributes.ts';

/** The request for one answer. */
export interface AnswerItem {
  /** Name of the type. */
  readonly type: string;
  readonly attribute: string | undefined;
  readonly ask: TypeRequest;
  /** Attributes to return; all if undefined. */
  readonly filter: readonly string[] | undefined;
  readonly format: BodyFormat;
}

export interface ComputedAnswer {
  readonly bytes: Uint8Array;
  /** Charged objects. */
  readonly objects: number;
  /** Instant at which the clock may change it, epoch milliseconds. */
  readonly steadyUntilMs: number;
}

interface AnswersInput {
  readonly items: readonly AnswerItem[];
  readonly bodies: readonly InputBody[];
  /** Parsed records of other groups, by the name of the group. */
  readonly groups: ReadonlyMap<string, RowsByKey>;
}

export const ANSWERS_TASK: WorkerTask<AnswersInput, readonly ComputedAnswer[]> = {
  file: new URL('./answerTask.ts', import.meta.url),
  name: 'answer',
  // A window of 500 bars over 5,000 takes up to 180 ms, and a batch has up to 1,000 answers.
  deadlineMs: 30_000,
  waitingMax: { account: 64, all: 256 },
  isLong: false,
};

export function run({ bodies, groups, items }: AnswersInput): readonly ComputedAnswer[] {
  const read = readBodies(bodies, groups);
  return items.map((item) => computeAnswer(item, read));
}

/** Answers for a symbol without data of a type (INTERFACE.md 0.2). */
export const EMPTY = { object: {}, list: [], value: null } as const;

/** Computes and renders one answer. @throws Failure InvalidParameter for a binary format. */
export function computeAnswer(item: AnswerItem, read: Read): ComputedAnswer {
  const { ask, filter, format } = item;
  const named = marketType(item.type);
  if (named === undefined) throw new Error(`there is no type ${item.type}`);
  const type = resolveAttribute(named, item.attribute);
  const value = type.answer(ask, read);
  const visible =
    value === undefined ? EMPTY[type.shape] : (type.selectPart?.(ask, value) ?? value);
  return {
    bytes: Buffer.from(renderText(filterAttributes(visible, filter), format)),
    objects: countChargedObjects(type, value),
    steadyUntilMs: unchangedUntil(ask, type.needs(ask), read),
  };
}

function countChargedObjects({ charge, rowsOf: rowsOfType }: MarketType, value: unknown): number {
  if (value === undefined) return 0;
  const rows = Array.isArray(value)
    ? (value as readonly unknown[])
    : (rowsOfType?.(value) ?? findNestedRows(value));
  if (charge.kind === 'answer') return rows?.length === 0 ? 0 : 1;
  return charge.paid(rows ?? []);
}
