// Formats numbers, times and values as text, never as markup.

const NUMBER = new Intl.NumberFormat('en-US', { maximumFractionDigits: 6 });
const SHORT = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });
const TIME = new Intl.DateTimeFormat('en-GB', {
  year: 'numeric',
  month: 'short',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZone: 'UTC',
});

export const number = (value: number): string => NUMBER.format(value);

export const shortNumber = (value: number): string =>
  Math.abs(value) < 10_000 ? NUMBER.format(value) : SHORT.format(value);

export const percent = (share: number): string =>
  `${NUMBER.format(Math.round(share * 1e4) / 100)} %`;

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${number(count)} ${count === 1 ? one : many}`;

/** Formats a time in UTC, as schedules and records use. */
export const time = (ms: number): string => TIME.format(ms);

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

export function bytes(count: number): string {
  const power = Math.min(
    UNITS.length - 1,
    Math.max(0, Math.floor(Math.log10(Math.max(1, count)) / 3)),
  );
  const value = count / 1000 ** power;
  return `${value >= 100 || power === 0 ? Math.round(value) : value.toFixed(1)} ${UNITS[power]}`;
}

export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min ${Math.round((ms % 60_000) / 1_000)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Longer cell texts are truncated. */
const CELL_CHARACTERS_MAX = 300;

/** Formats a record value as text; undefined for null and undefined. */
export function cell(value: unknown): string | undefined {
  if (value === null || value === undefined) return undefined;
  if (typeof value === 'number') return Number.isInteger(value) ? String(value) : number(value);
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value));
  return text.length > CELL_CHARACTERS_MAX ? `${text.slice(0, CELL_CHARACTERS_MAX)}…` : text;
}
