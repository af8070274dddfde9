// Computes days and months in the billing zone. A formatter call costs about 1 µs, and every hot read needs
// the day, so the latest quarter of an hour is cached: every zone's days begin on one.

const QUARTER_MS = 900_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

export interface BillingDays {
  /** `YYYYMMDD` of an epoch-millisecond time. */
  day(ms: number): string;
  /** `YYYYMM`. */
  month(ms: number): string;
  /** Epoch milliseconds at which the month of `ms` ends and the next one begins. */
  monthEnd(ms: number): number;
  /** Epoch milliseconds of the first hour that is completely in the month of `ms`. */
  monthStart(ms: number): number;
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
    const current = Math.floor(ms / QUARTER_MS);
    if (current === quarter) return today;
    today = format.format(ms).replaceAll('-', '');
    quarter = current;
    return today;
  };
  const month = (ms: number): string => day(ms).slice(0, 6);
  /** Finds the quarter that begins the month after `month(ms)`, within 32 days. */
  const nextMonth = (ms: number): number => {
    let [before, after] = [Math.floor(ms / QUARTER_MS), Math.ceil((ms + 32 * DAY_MS) / QUARTER_MS)];
    while (after - before > 1) {
      const middle = Math.floor((before + after) / 2);
      if (month(middle * QUARTER_MS) === month(ms)) before = middle;
      else after = middle;
    }
    return after * QUARTER_MS;
  };
  return {
    day,
    month,
    monthEnd: nextMonth,
    monthStart: (ms) => {
      const name = month(ms);
      const before = Date.UTC(Number(name.slice(0, 4)), Number(name.slice(4)) - 1) - 2 * DAY_MS;
      return Math.ceil(nextMonth(before) / HOUR_MS) * HOUR_MS;
    },
  };
}

/** Returns a time in the middle of a `YYYYMM`, in any zone. */
export const monthMiddle = (month: string): number =>
  Date.UTC(Number(month.slice(0, 4)), Number(month.slice(4)) - 1, 15);

/** `202601`, 1 -> `202512`. */
export function monthsBefore(month: string, count: number): string {
  const total = Number(month.slice(0, 4)) * 12 + Number(month.slice(4)) - 1 - count;
  return `${Math.floor(total / 12)}${String((total % 12) + 1).padStart(2, '0')}`;
}
