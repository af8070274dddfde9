// Quarters of the calendar, as owners and analysts report by them.
import { addDays, type Day, monthStart } from '../../../query/time/days.ts';

/** Quarters since the year 0. */
export const quarterOf = (day: Day): number =>
  Number(day.slice(0, 4)) * 4 + Math.floor((Number(day.slice(5, 7)) - 1) / 3);

export const firstDayOf = (quarter: number): Day =>
  monthStart(Math.floor(quarter / 4), (quarter % 4) * 3 + 1);

export const lastDayOf = (quarter: number): Day => addDays(firstDayOf(quarter + 1), -1);
