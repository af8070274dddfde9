// Days and months of the billing zone. A formatter call costs about 1 µs, and a hot read asks each
// time, so the last quarter of an hour is remembered: every zone's days begin on one.
import { isoTime } from './clock.ts';

const QUARTER_MS = 900_000;

export interface BillingDays {
  /** `YYYYMMDD` of an epoch-millisecond time. */
  day(ms: number): string;
  /** `YYYYMM`. */
  month(ms: number): string;
  /** Epoch milliseconds before which the month of `ms` has certainly not begun. */
  monthFloor(ms: number): number;
}

export function billingDays(zone: string): BillingDays {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone: zone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  });
  let quarter = -1;
  let today = '';
  const day = (ms: number): string => {
    const asked = Math.floor(ms / QUARTER_MS);
    if (asked === quarter) return today;
    today = format.format(ms).replaceAll('-', '');
    quarter = asked;
    return today;
  };
  return {
    day,
    month: (ms) => day(ms).slice(0, 6),
    monthFloor: (ms) => Date.parse(`${isoTime(ms).slice(0, 7)}-01T00:00:00Z`) - 32 * 24 * 3_600_000,
  };
}
