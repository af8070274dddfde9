// Columns of a CSV by its first records: their types, and the blanks around their cells.
import { setImmediate as othersTurn } from 'node:timers/promises';
import type { Reading } from '../bytes/reading.ts';
import type { DateOrder } from '../values/dateFormats.ts';
import { datesSpelled, type Inferred, inferType } from '../values/infer.ts';
import { isMissing } from '../values/missing.ts';
import { parseDateFormat } from '../dates/strptime.ts';
import type { CsvRecord, Dialect } from './lines/records.ts';
import { kindOf, type Rows } from './shape.ts';

/** Rows of the head that are inspected, and cells at most. */
const SAMPLE_ROWS = 10_000;
const SAMPLE_CELLS = 400_000;
/** Cells that are inspected in one turn of the event loop: 10 ms at most. */
const SLICE_CELLS = 10_000;
/** Records whose blanks are inspected. */
const PADDED_ROWS = 200;

/** What is said of the values. */
interface Said extends Pick<Reading, 'dateFormat' | 'nulls'> {
  readonly dateOrder: DateOrder | undefined;
}

export async function inferColumns(
  names: readonly string[],
  records: Rows,
  { dateFormat, dateOrder, nulls }: Said,
) {
  const dates = dateFormat === undefined ? undefined : formattedDates(dateFormat, nulls);
  const most = Math.min(SAMPLE_ROWS, Math.ceil(SAMPLE_CELLS / names.length));
  const sample = records.slice(0, most);
  const columns: { readonly name: string; readonly inferred: Inferred }[] = [];
  for (const [index, name] of names.entries()) {
    const values = sample.map((row) => row[index] ?? '');
    columns.push({ name, inferred: dates?.(values) ?? inferType(values, dateOrder, nulls) });
    if ((index * sample.length) % SLICE_CELLS < sample.length) await othersTurn();
  }
  return columns;
}

/** The type of values that are all dates of a format, as the loader passed it. */
function formattedDates(
  format: string,
  nulls: Reading['nulls'],
): (values: readonly string[]) => Inferred | undefined {
  const { hasOffset, matches, pattern, time } = parseDateFormat(format);
  const spelled = datesSpelled({
    time,
    read: { kind: 'strptime', format, pattern, hasOffset },
  });
  return (values) => {
    const given = values.filter((value) => value !== '');
    const present = given.filter((value) => !isMissing(value, nulls));
    if (present.length === 0 || !present.every(matches)) return undefined;
    return present.length === given.length ? spelled : { ...spelled, missing: true };
  };
}

/** The dialect with what the first records show of blanks; the same one where they show nothing. */
export function isPadded(records: readonly CsvRecord[], text: string, plain: Dialect): Dialect {
  if (plain.delimiter === ' ') return plain;
  const rows = records.filter(({ cells, comment }) => cells.length > 0 && comment === undefined);
  const [header, ...others] = rows.slice(0, PADDED_ROWS).map(({ cells }) => cells);
  const trims = header?.some((name) => name !== name.trim()) === true || areNumbersPadded(others);
  const gap = plain.quote === '' ? '' : `${plain.delimiter} ${plain.quote}`;
  const spaced = gap !== '' && text.includes(gap);
  return trims || spaced ? { ...plain, trims, spaced } : plain;
}

/** A column is of numbers or dates but for the blanks around them. */
function areNumbersPadded(rows: Rows): boolean {
  const [first = []] = rows;
  return first.some((_, at) => {
    const values = rows.map((row) => row[at] ?? '');
    if (!values.some((value) => value !== value.trim())) return false;
    return kindOf(values) === 'text' && kindOf(values.map((value) => value.trim())) !== 'text';
  });
}

/** Which columns of the first table have other values than texts. */
export function typedColumns(
  data: readonly CsvRecord[],
  width: number,
  trailing: number | undefined,
  header: readonly string[] | undefined,
): readonly boolean[] {
  const fits = ({ cells, fault }: CsvRecord): boolean =>
    fault === undefined &&
    (cells.length === width || (cells.length === trailing && cells.at(-1) === ''));
  const begin = data.findIndex(fits);
  const end = data.findIndex((record, at) => at > begin && !fits(record));
  const isHeader = (cells: readonly string[]): boolean =>
    header?.every((name, at) => name === cells[at]) === true;
  const rows = data
    .slice(Math.max(0, begin), end < 0 ? undefined : end)
    .map(({ cells }) => cells)
    .filter((cells) => !isHeader(cells))
    .slice(0, SAMPLE_ROWS);
  return Array.from(
    { length: width },
    (_, at) => kindOf(rows.map((row) => (row[at] ?? '').trim())) !== 'text',
  );
}
