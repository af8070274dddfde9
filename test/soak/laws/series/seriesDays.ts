// A second implementation of days and ranges, for the oracle of the series: Julian day numbers, a table of
// month lengths, and the language's own time zones. It uses no code of query/.

/** Both ends are inclusive; an absent end is open. */
export interface Span {
  readonly from?: string;
  readonly to?: string;
}

const LENGTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

const isLeap = (year: number): boolean => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;

const lengthOf = (year: number, month: number): number =>
  month === 2 && isLeap(year) ? 29 : (LENGTHS[month - 1] ?? 0);

const spelled = (year: number, month: number, date: number): string =>
  [String(year).padStart(4, '0'), ...[month, date].map((n) => String(n).padStart(2, '0'))].join(
    '-',
  );

const parted = (day: string): readonly [number, number, number] => [
  Number(day.slice(0, 4)),
  Number(day.slice(5, 7)),
  Number(day.slice(8)),
];

/** Julian day number, by Fliegel and Van Flandern. */
function julian(day: string): number {
  const [year, month, date] = parted(day);
  const a = Math.trunc((month - 14) / 12);
  return (
    Math.trunc((1461 * (year + 4800 + a)) / 4) +
    Math.trunc((367 * (month - 2 - 12 * a)) / 12) -
    Math.trunc((3 * Math.trunc((year + 4900 + a) / 100)) / 4) +
    date -
    32075
  );
}

function ofJulian(number: number): string {
  let l = number + 68569;
  const n = Math.trunc((4 * l) / 146097);
  l -= Math.trunc((146097 * n + 3) / 4);
  const i = Math.trunc((4000 * (l + 1)) / 1461001);
  l = l - Math.trunc((1461 * i) / 4) + 31;
  const j = Math.trunc((80 * l) / 2447);
  const k = Math.trunc(j / 11);
  return spelled(100 * (n - 49) + i + k, j + 2 - 12 * k, l - Math.trunc((2447 * j) / 80));
}

const FIRST = '0001-01-01';
const LAST = '9999-12-31';

export function plusDays(day: string, days: number): string {
  const number = julian(day) + days;
  if (number <= julian(FIRST)) return FIRST;
  return number >= julian(LAST) ? LAST : ofJulian(number);
}

export function plusMonths(day: string, months: number): string {
  const [year, month, date] = parted(day);
  let [y, m] = [year, month];
  for (let step = 0; step < Math.abs(months) && y >= 1 && y <= 9999; step += 1) {
    m += Math.sign(months);
    if (m === 0) [y, m] = [y - 1, 12];
    if (m === 13) [y, m] = [y + 1, 1];
  }
  if (y < 1) return FIRST;
  return y > 9999 ? LAST : spelled(y, m, Math.min(date, lengthOf(y, m)));
}

/** Sunday of the week. */
const sundayOf = (day: string): string => plusDays(day, -((julian(day) + 1) % 7));

const weekFrom = (sunday: string): Span => ({ from: sunday, to: plusDays(sunday, 6) });

function wholeMonths(year: number, month: number, count: number): Span {
  const last = month + count - 1;
  return { from: spelled(year, month, 1), to: spelled(year, last, lengthOf(year, last)) };
}

function monthBeside(day: string, months: number, length: 1 | 3): Span {
  const [year, month] = parted(plusMonths(`${day.slice(0, 8)}01`, months));
  return wholeMonths(year, length === 1 ? month : month - ((month - 1) % 3), length);
}

/** Undefined: no code, or one that needs `calendar`. */
export function spanOf(text: string, calendar: boolean, today: string): Span | undefined {
  const code = text.toLowerCase();
  const ahead = ['tomorrow', 'this-week', 'this-month', 'this-quarter'].includes(code);
  if ((ahead || code.startsWith('next-')) && !calendar) return undefined;
  if (code === 'max') return {};
  if (code === 'today') return { from: today, to: today };
  if (code === 'ytd') return { from: `${today.slice(0, 4)}-01-01`, to: today };
  const beside = { yesterday: -1, tomorrow: 1 }[code];
  if (beside !== undefined) return { from: plusDays(today, beside), to: plusDays(today, beside) };
  const [, which = '', unit = ''] = /^(last|this|next)-(week|month|quarter)$/.exec(code) ?? [];
  if (unit !== '') return unitBeside(today, { last: -1, this: 0, next: 1 }[which] ?? 0, unit);
  return counted(code, calendar, today) ?? partOfYear(code);
}

function unitBeside(today: string, by: number, unit: string): Span {
  if (unit === 'week') return weekFrom(plusDays(sundayOf(today), 7 * by));
  return unit === 'month' ? monthBeside(today, by, 1) : monthBeside(today, 3 * by, 3);
}

function counted(code: string, calendar: boolean, today: string): Span | undefined {
  const [, digits, unit = ''] = /^(\d{1,5})(mm|dm|[dwmqy])$/.exec(code) ?? [];
  if (digits === undefined || Number(digits) === 0) return undefined;
  if (unit.length === 2 && code !== '1mm' && code !== '5dm') return undefined;
  const count = (calendar ? 1 : -1) * Number(digits);
  const days = { d: 1, w: 7 }[unit.slice(0, 1)];
  const months = { m: 1, q: 3, y: 12 }[unit.slice(0, 1)];
  const isDays = days !== undefined && unit !== 'mm';
  const far = isDays ? plusDays(today, count * days) : plusMonths(today, count * (months ?? 0));
  return calendar ? { from: today, to: far } : { from: far, to: today };
}

function partOfYear(code: string): Span | undefined {
  const [, part = '', digits = ''] = /^(q[1-4]|h[12])?(\d{4})$/.exec(code) ?? [];
  const year = Number(digits);
  if (year === 0) return undefined;
  if (part === '') return wholeMonths(year, 1, 12);
  const nth = Number(part.slice(1)) - 1;
  return part.startsWith('q')
    ? wholeMonths(year, nth * 3 + 1, 3)
    : wholeMonths(year, nth * 6 + 1, 6);
}

const formats = new Map<string, Intl.DateTimeFormat>();
const dayCache = new Map<string, string>();

/** The local day in the zone. */
export function wallDay(ms: number, zone: string): string {
  const id = `${zone} ${ms}`;
  const cachedDay = dayCache.get(id);
  if (cachedDay !== undefined) return cachedDay;
  const parts = { year: 'numeric', month: '2-digit', day: '2-digit' } as const;
  const format =
    formats.get(zone) ?? new Intl.DateTimeFormat('en-CA', { timeZone: zone, ...parts });
  formats.set(zone, format);
  const day = format.format(ms);
  if (dayCache.size > 100_000) dayCache.clear();
  dayCache.set(id, day);
  return day;
}

export const within = (day: string | undefined, { from, to }: Span): boolean => {
  if (from === undefined && to === undefined) return true;
  return (
    day !== undefined && (from === undefined || day >= from) && (to === undefined || day <= to)
  );
};

/** Id of the period of a day; weeks begin on Sunday. */
export const periodOf = (day: string, period: string): string => {
  if (period === 'weekly') return sundayOf(day);
  if (period === 'quarterly') return monthBeside(day, 0, 3).from ?? '';
  return day.slice(0, { daily: 10, monthly: 7, annual: 4 }[period] ?? 10);
};
