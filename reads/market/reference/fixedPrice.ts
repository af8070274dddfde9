// Answers at a fixed price, independent of the content; an empty answer is free.
import type { Body } from '../../../store/duckdb/protocol.ts';
import { renderBody, filterAttributes } from '../../request/rendering.ts';
import { meterCall } from '../../answer/metering.ts';
import { currentMoment } from '../../series/moments.ts';
import { selectFormat } from '../../answer/format.ts';
import { answerReading } from '../../answer/answerReading.ts';
import { SERIES_PARAMETERS } from '../../series/queryParameters.ts';
import type { Answer } from '../../request/answer.ts';
import type { ReadRequest } from '../../request/readRequest.ts';
import type { ReadServices } from '../../request/readServices.ts';
import { listOf } from '../../request/parameters.ts';

const ANSWER = new Set(['filter', 'format', 'callback', 'cacheTTL', 'estimate', 'maxMessages']);

/** Formats besides JSON. */
export const FIXED_FORMATS = ['jsonl', 'csv', 'psv'] as const;

/** Query parameters of every call with a fixed price. */
export const FIXED_PARAMETERS = SERIES_PARAMETERS.filter(({ name }) => ANSWER.has(name));

interface Price {
  readonly usageKey: string;
  /** Messages charged for a call. */
  readonly weight: number;
}

export async function answerFixed(
  call: ReadRequest,
  services: Pick<ReadServices, 'lake' | 'ledger' | 'pending' | 'settings'>,
  { usageKey, weight }: Price,
  make: () => Promise<unknown>,
): Promise<Answer> {
  const format = selectFormat(call);
  const { endpoint, requestId } = call;
  const order = { requestId, endpoint, usageKey, weight, premium: false };
  const fare = { order, most: 1, least: 0 };
  const run = async (): Promise<Body> => {
    const value = await make();
    // An empty answer costs nothing (INTERFACE.md 0.2).
    const objects = isEmptyValue(value) ? 0 : 1;
    return renderBody(filterAttributes(value, listOf(call.query, 'filter')), objects, format);
  };
  const moment = currentMoment(services);
  return answerReading(call, {
    format,
    snapshot: moment.snapshot,
    moment,
    tag: undefined,
    datasets: [],
    meter: () => meterCall(call, services, call.caller, fare, run),
  });
}

/** Whether a value is `[]`, `{}`, or a list of only such values. */
function isEmptyValue(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isEmptyValue);
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
