// Infers the columns of a CSV from its first records: their types, and the blanks around their cells.
import { setImmediate as othersTurn } from 'node:timers/promises';
import type { Reading } from '../bytes/reading.ts';
import type { DateOrder } from '../values/dateFormats.ts';
import { inferredDates, type Inferred, inferType } from '../values/infer.ts';
import { isMissing } from '../values/missing.ts';
import { parseDateFormat } from '../dates/strptime.ts';
import { isLikeHeader } from './lines/headerRows.ts';
import type { CsvRecord, Dialect } from './lines/records.ts';
import { detectKind, type Rows } from './shape.ts';

/** Rows of the head that are inspected, and cells at most. */
const SAMPLE_ROWS = 10_000;
const SAMPLE_CELLS = 400_000;
/** Cells that are inspected in one turn of the event loop: 10 ms at most. */
const SLICE_CELLS = 10_000;
/** Records whose blanks are inspected. */
const PADDED_ROWS = 200;

/** Reading options that affect values. */
interface ValueOptions extends Pick<Reading, 'dateFormat' | 'nulls'> {
  readonly dateOrder: DateOrder | undefined;
}

export async function inferColumns(
  names: readonly string[],
  records: Rows,
  { dateFormat, dateOrder, nulls }: ValueOptions,
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

/** Returns the type of values that are all dates of the format that the loader set. */
function formattedDates(
  format: string,
  nulls: Reading['nulls'],
): (values: readonly string[]) => Inferred | undefined {
  const { hasOffset, matches, pattern, time } = parseDateFormat(format);
  const spelled = inferredDates({
    time,
    read: { kind: 'strptime', format, pattern, hasOffset },
  });
  return (values) => {
    const filled = values.filter((value) => value !== '');
    const present = filled.filter((value) => !isMissing(value, nulls));
    if (present.length === 0 || !present.every(matches)) return undefined;
    return present.length === filled.length ? spelled : { ...spelled, missing: true };
  };
}

/** Adds to the dialect whether cells have blanks around them; returns the same one if they have none. */
export function detectPadding(
  records: readonly CsvRecord[],
  text: string,
  plain: Dialect,
): Dialect {
  if (plain.delimiter === ' ') return plain;
  const rows = records.filter(({ cells, comment }) => cells.length > 0 && comment === undefined);
  const [header, ...others] = rows.slice(0, PADDED_ROWS).map(({ cells }) => cells);
  const trims = header?.some((name) => name !== name.trim()) === true || areNumbersPadded(others);
  const gap = plain.quote === '' ? '' : `${plain.delimiter} ${plain.quote}`;
  const spaced = gap !== '' && text.includes(gap);
  return trims || spaced ? { ...plain, trims, spaced } : plain;
}

/** Whether a column has numbers or dates apart from the blanks around them. */
function areNumbersPadded(rows: Rows): boolean {
  const [first = []] = rows;
  return first.some((_, at) => {
    const values = rows.map((row) => row[at] ?? '');
    if (!values.some((value) => value !== value.trim())) return false;
    return (
      detectKind(values) === 'text' && detectKind(values.map((value) => value.trim())) !== 'text'
    );
  });
}

/** For each column of the first table, whether its values are not texts. */
export function findTypedColumns(
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
  const rows = data
    .slice(Math.max(0, begin), end < 0 ? undefined : end)
    .map(({ cells }) => cells)
    .filter((cells) => !isLikeHeader(cells, header))
    .slice(0, SAMPLE_ROWS);
  return Array.from(
    { length: width },
    (_, at) => detectKind(rows.map((row) => (row[at] ?? '').trim())) !== 'text',
  );
}
