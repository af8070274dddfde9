// Reference data that the program knows by itself: trading days and holidays.
import { Type } from 'typebox';
import { tradingDates } from '../../../market/derive/tradingDates.ts';
import { dayAt } from '../../../market/derive/words.ts';
import { parseDay } from '../../../query/time/dates.ts';
import { Failure } from '../../../store/base/failure.ts';
import { callerOf } from '../../auth/access.ts';
import { bodyOf, filtered } from '../../market/rendering.ts';
import { metered } from '../../read/metering.ts';
import { momentNow } from '../../read/moments.ts';
import { formatOf, rowsOf } from '../../read/series.ts';
import { SERIES_PARAMETERS } from '../../read/seriesParameters.ts';
import type { Answer, Call, Endpoint, Services } from '../../request/endpoint.ts';
import { listOf } from '../../request/parameters.ts';

const ANSWER = new Set(['filter', 'format', 'callback', 'cacheTTL', 'estimate', 'maxMessages']);

export const tradingDays: Endpoint = {
  id: 'getTradingDates',
  method: 'GET',
  path: '/ref-data/us/dates/:type/:direction/:last?/:startDate?',
  token: 'publishable',
  weight: '1 a call',
  failures: 'data',
  inTest: true,
  summary:
    'Trading days or holidays of the US exchanges, 1990 to 2030: type trade or holiday, direction next ' +
    'or last, the next or last n of them from a day (YYYYMMDD) on, today by default.',
  parameters: SERIES_PARAMETERS.filter(({ name }) => ANSWER.has(name)),
  answer: Type.Array(Type.Object({ date: Type.String(), settlementDate: Type.String() })),
  formats: ['jsonl', 'csv', 'psv'],
  handle: answerDates,
};

/** Days of one answer. */
const DAYS_MAX = 1_000;

async function answerDates(call: Call, services: Services): Promise<Answer> {
  const { direction, last = '1', startDate, type } = call.path;
  const kind = type === 'trade' || type === 'holiday' ? type : undefined;
  const way = direction === 'next' || direction === 'last' ? direction : undefined;
  if (kind === undefined || way === undefined) throw new Failure('NotFound');
  if (!/^\d{1,4}$/.test(last) || Number(last) < 1 || Number(last) > DAYS_MAX) {
    throw new Failure('IncorrectValues');
  }
  const from = startDate === undefined ? dayAt(services.clock()) : dayOf(startDate);
  const format = formatOf(call);
  const { endpoint, requestId } = call;
  const order = { requestId, endpoint, usageKey: 'REF_DATA_DATES', weight: 1, premium: false };
  const fare = { order, most: 1, least: 0 };
  const metering = await metered(call, services, callerOf(call.caller), fare, () => {
    const dates = tradingDates(kind, way, Number(last), from);
    return Promise.resolve(bodyOf(filtered(dates, listOf(call.query, 'filter')), 1, format));
  });
  const moment = momentNow(services);
  const given = { snapshot: moment.snapshot, moment, tag: undefined, dataset: undefined };
  if (metering.kind === 'unread') return { ...metering, ...given, format };
  if (metering.kind === 'estimate') {
    return { kind: 'json', value: metering.price, metering: 'free' };
  }
  const { charge, result: body } = metering;
  return rowsOf(call, { ...given, body, format, charge });
}

/** @throws Failure IncorrectValues: the sentence that clients of the original know (INTERFACE.md 0.1). */
function dayOf(text: string): string {
  try {
    return parseDay('startDate', text);
  } catch {
    throw new Failure('IncorrectValues');
  }
}
