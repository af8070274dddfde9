// Answers trading days and holidays, which are computed without any dataset.
import { tradingDates } from '../../../market/derive/tradingDates.ts';
import { dayAt } from '../../../market/derive/exchangeTime.ts';
import { parseDay } from '../../../query/time/dates.ts';
import { Failure } from '../../../store/base/failure.ts';
import type { Answer } from '../../request/answer.ts';
import type { ReadRequest } from '../../request/readRequest.ts';
import type { ReadServices } from '../../request/readServices.ts';
import { answerFixed } from './fixedPrice.ts';

/** Maximum days of one answer. */
const DAYS_MAX = 1_000;

export function answerDates(call: ReadRequest, services: ReadServices): Promise<Answer> {
  const { direction, last = '1', startDate, type } = call.path;
  const kind = type === 'trade' || type === 'holiday' ? type : undefined;
  const way = direction === 'next' || direction === 'last' ? direction : undefined;
  if (kind === undefined || way === undefined) throw new Failure('NotFound');
  if (!/^\d{1,4}$/.test(last) || Number(last) < 1 || Number(last) > DAYS_MAX) {
    throw new Failure('IncorrectValues');
  }
  const from = startDate === undefined ? dayAt(services.clock()) : dayOf(startDate);
  return answerFixed(call, services, { usageKey: 'REF_DATA_DATES', weight: 1 }, () =>
    Promise.resolve(tradingDates(kind, way, Number(last), from)),
  );
}

/** @throws Failure IncorrectValues: the message that clients of the original expect (INTERFACE.md 0.1). */
function dayOf(text: string): string {
  try {
    return parseDay('startDate', text);
  } catch {
    throw new Failure('IncorrectValues');
  }
}
