// Days printed in random spellings are read back as the same days, row for row, or the load requires
// dateOrder or stores texts; never another day. The printers share no code with the reader.
import { loaded } from '../../../base/client.ts';
import { type Seeded, seeded } from '../../crash/rounds/seeded.ts';
import {
  fileOf,
  type Format,
  refusal,
  typeOf,
  valuesOf,
} from '../../../pipeline/values/written.ts';
import { startServer, type TestServer } from '../../../base/server.ts';

interface Day {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

const NAMES = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
const two = (value: number): string => String(value).padStart(2, '0');
const nameOf = ({ month }: Day): string => NAMES[month - 1] ?? '';
const yearOf = ({ year }: Day): string => two(year % 100);

/** Spellings with unambiguous day and month; 1970 to 2068, so that two digits identify the year. */
const TELLING: readonly ((one: Day) => string)[] = [
  ({ day, month, year }) => `${year}-${two(month)}-${two(day)}`,
  ({ day, month, year }) => `${year}/${month}/${day}`,
  ({ day, month, year }) => `${two(day)}.${two(month)}.${year}`,
  ({ day, month, year }) => `${day}.${month}.${year}`,
  (one) => `${two(one.day)}.${two(one.month)}.${yearOf(one)}`,
  (one) => `${one.day}-${nameOf(one).slice(0, 3)}-${yearOf(one)}`,
  (one) => `${nameOf(one)} ${one.day}, ${one.year}`,
  (one) => `${one.day} ${nameOf(one).slice(0, 3).toUpperCase()} ${one.year}`,
  (one) => `Sunday, ${one.day} ${nameOf(one)} ${one.year}`,
];
const DAY_FIRST: readonly ((one: Day) => string)[] = [
  ({ day, month, year }) => `${day}/${month}/${year}`,
  (one) => `${two(one.day)}/${two(one.month)}/${yearOf(one)}`,
  ({ day, month, year }) => `${two(day)}-${two(month)}-${year}`,
];
const MONTH_FIRST: readonly ((one: Day) => string)[] = [
  ({ day, month, year }) => `${month}/${day}/${year}`,
  ({ day, month, year }) => `${two(month)}-${two(day)}-${year}`,
];
const CLOCKS: readonly ((minutes: number) => string)[] = [
  (minutes) => `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`,
  (minutes) => `${Math.floor(minutes / 60)}:${two(minutes % 60)}:00`,
  (minutes) => {
    const hour = Math.floor(minutes / 60);
    return `${hour % 12 === 0 ? 12 : hour % 12}:${two(minutes % 60)} ${hour < 12 ? 'AM' : 'pm'}`;
  },
];
/** Texts that are no dates. */
const WRONG = ['2023-02-30', '31.04.2024', '0/1/2024', '13/13/2024', 'Q5 2024', 'Febuary 1, 2024'];
const ROWS_MAX = 12;
const FORMATS: readonly Format[] = ['csv', 'json', 'parquet'];

interface Column {
  readonly texts: readonly string[];
  /** The dates as in an answer; null if one text is no date. */
  readonly dates: readonly string[] | null;
  /** The order of day and month, if some are spelled in digits. */
  readonly order: 'DMY' | 'MDY' | undefined;
  /** One of those has a day after the twelfth. */
  readonly isUnambiguous: boolean;
}

function columnOf(random: Seeded): Column {
  const one = <T>(list: readonly T[]): T => list[random.between(0, list.length - 1)] as T;
  const order = one([undefined, 'DMY', 'MDY'] as const);
  const ordered = order === undefined ? [] : order === 'DMY' ? DAY_FIRST : MONTH_FIRST;
  const clocked = random.chance(1 / 3);
  const texts: string[] = [];
  const dates: string[] = [];
  let isUnambiguous = false;
  for (let left = random.between(1, ROWS_MAX); left > 0; left -= 1) {
    const ms = Date.UTC(1970, 0, random.between(1, 36_000));
    const at = new Date(ms);
    const day = { year: at.getUTCFullYear(), month: at.getUTCMonth() + 1, day: at.getUTCDate() };
    const printer = one([...TELLING, ...ordered, ...ordered]);
    const printed = printer(day);
    if (ordered.includes(printer) && day.day > 12) isUnambiguous = true;
    const minutes = random.between(0, 1_439);
    texts.push(clocked ? `${printed} ${one(CLOCKS)(minutes)}` : printed);
    const instant = new Date(ms + minutes * 60_000).toISOString();
    dates.push(clocked ? instant : at.toISOString().slice(0, 10));
  }
  if (random.chance(0.8)) return { texts, dates, order, isUnambiguous };
  texts[random.between(0, texts.length - 1)] = one(WRONG);
  return { texts, dates: null, order, isUnambiguous };
}

/** Loads a random column; returns the fault of the stored values, or undefined. */
async function fault(server: TestServer, id: string, random: Seeded): Promise<string | undefined> {
  const { order, isUnambiguous, texts, dates } = columnOf(random);
  const format = FORMATS[random.between(0, FORMATS.length - 1)] ?? 'csv';
  const file = await fileOf(format, texts);
  const description = `${format} ${JSON.stringify(texts)}`;
  const answer = await refusal(server, id, file);
  if (!answer.startsWith('200 ')) {
    const asks = answer.includes('needs dateOrder=MDY or DMY (--date-order)');
    if (!asks || isUnambiguous || order === undefined || dates === null)
      return `${description}: ${answer}`;
    await loaded(server, id, file, { key: 'k', dateOrder: order });
  }
  const type = typeOf(server, id);
  const values = JSON.stringify(await valuesOf(server, id));
  const expected = JSON.stringify(dates ?? texts);
  const isDate = type.startsWith('string:date');
  return values === expected && isDate === (dates !== null)
    ? undefined
    : `${description}: ${type} ${values}`;
}

/** Plays `count` columns, each in its own dataset. */
export async function writtenDatesLaw(
  count: number,
  seed: number,
): Promise<{ readonly failures: readonly string[]; readonly columns: number }> {
  const random = seeded(seed);
  const failures: string[] = [];
  await using server = await startServer();
  for (let at = 0; at < count; at += 1) {
    const wrong = await fault(server, `W${at}`, random);
    if (wrong !== undefined) failures.push(`seed ${seed}, column ${at}: ${wrong}`);
  }
  return { failures, columns: count };
}
