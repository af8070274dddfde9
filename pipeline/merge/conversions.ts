// A stored value as another type, without losing a part of it: null where that can't be.
import type { ColumnType } from '../../store/lake/versions/columns.ts';
import type { DateSpelling } from '../values/dateFormats.ts';
import { dateOf } from '../values/dateReading.ts';
import { castText } from '../values/exactText.ts';

/** Which type a column may become of which. Texts are spelled as answers spell their values. */
const INTO: Readonly<Record<ColumnType, readonly ColumnType[]>> = {
  int64: ['float64', 'varchar'],
  float64: ['int64', 'varchar'],
  boolean: ['varchar'],
  date: ['timestamp', 'varchar'],
  timestamp: ['date', 'varchar'],
  time: ['varchar'],
  varchar: ['int64', 'float64', 'boolean', 'date', 'timestamp', 'time'],
  json: ['varchar'],
};

export const converts = (from: ColumnType, to: ColumnType): boolean =>
  from === to || INTO[from].includes(to);

/**
 * The value as SQL; null also where it is null or, for what is no text, an empty text.
 * @param read how texts spell a date
 */
export function conversionOf(
  value: string,
  from: ColumnType,
  to: ColumnType,
  read?: DateSpelling['read'],
): string {
  if (from === to) return value;
  if (to === 'varchar') return textOf(value, from);
  if (from === 'varchar') {
    if (to !== 'date' && to !== 'timestamp') return castText(value, to);
    return read === undefined || read.kind === 'cast'
      ? castText(value, to)
      : dateOf(value, read, to);
  }
  if (to === 'float64') return `CAST(${value} AS DOUBLE)`;
  if (to === 'timestamp') return `CAST(${value} AS TIMESTAMP)`;
  const cast = to === 'date' ? `CAST(${value} AS DATE)` : `TRY_CAST(${value} AS BIGINT)`;
  return `CASE WHEN ${cast} = ${value} THEN ${cast} END`;
}

/** As the JSON of an answer has it. */
function textOf(value: string, from: ColumnType): string {
  if (from === 'float64') {
    const whole = `CAST(CAST(${value} AS BIGINT) AS VARCHAR)`;
    // Whole numbers are spelled as such, as far as 64 bits go.
    return `CASE WHEN abs(${value}) < 9e18 AND trunc(${value}) = ${value} THEN ${whole}
      ELSE CAST(${value} AS VARCHAR) END`;
  }
  if (from !== 'timestamp') return `CAST(${value} AS VARCHAR)`;
  const spelled = (fraction: string): string =>
    `strftime(${value}, '%Y-%m-%dT%H:%M:%S.${fraction}Z')`;
  return `CASE WHEN date_trunc('millisecond', ${value}) = ${value} THEN ${spelled('%g')}
    ELSE ${spelled('%f')} END`;
}
