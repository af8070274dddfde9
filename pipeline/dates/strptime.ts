// Parses a date format in strptime letters, as DuckDB reads them: `%Y%m%d %H%M%S%g`.
import { Failure } from '../../store/base/failure.ts';

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const MONTH_NAMES = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
  'november',
  'december',
];
const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
const DAY_NAMES = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];

/** A part of a text: digits, one of some words, or an offset. */
type Part =
  | { readonly kind: 'digits'; readonly least: number; readonly most: number }
  | { readonly kind: 'words'; readonly words: readonly string[] }
  | { readonly kind: 'offset' };

interface Letter {
  readonly part: Part;
  /** The letter belongs to the time of day. */
  readonly clock?: true;
}

const digits = (least: number, most = least): Part => ({ kind: 'digits', least, most });
const words = (...list: readonly string[]): Part => ({ kind: 'words', words: list });

const LETTERS: Readonly<Record<string, Letter>> = {
  Y: { part: digits(4) },
  y: { part: digits(2) },
  m: { part: digits(1, 2) },
  b: { part: words(...MONTHS) },
  B: { part: words(...MONTH_NAMES) },
  d: { part: digits(1, 2) },
  j: { part: digits(3) },
  a: { part: words(...DAYS) },
  A: { part: words(...DAY_NAMES) },
  H: { part: digits(1, 2), clock: true },
  I: { part: digits(1, 2), clock: true },
  M: { part: digits(1, 2), clock: true },
  S: { part: digits(1, 2), clock: true },
  g: { part: digits(3), clock: true },
  f: { part: digits(1, 6), clock: true },
  n: { part: digits(9), clock: true },
  p: { part: words('am', 'pm'), clock: true },
  z: { part: { kind: 'offset' }, clock: true },
};

const OFFSET = String.raw`[+-]\d{2}(?::?\d{2})?`;

function patternOf(part: Part): string {
  if (part.kind === 'offset') return OFFSET;
  if (part.kind === 'digits') return String.raw`\d{${part.least},${part.most}}`;
  return `(?:${part.words.map((word) => word.replace(SIGNS, String.raw`\$&`)).join('|')})`;
}

const SIGNS = /[\\^$.*+?()[\]{}|]/g;

/** Position where a part of a text ends; undefined if it does not match. */
function findEnd(part: Part, text: string, at: number): number | undefined {
  if (part.kind === 'words') {
    const word = part.words.find((one) => text.startsWith(one, at));
    return word === undefined ? undefined : at + word.length;
  }
  if (part.kind === 'offset') {
    const offset = /^[+-]\d\d(?::?\d\d)?/.exec(text.slice(at, at + 6));
    return offset === null ? undefined : at + offset[0].length;
  }
  let end = at;
  while (end < at + part.most && /^\d$/.test(text[end] ?? '')) end += 1;
  return end - at < part.least ? undefined : end;
}

const MEANINGS =
  '%Y year, %y two digits of it, %m month, %b %B its name, %d day, %j day of the year, ' +
  '%a %A weekday, %H hour, %I hour of 12, %p AM or PM, %M minute, %S second, %g millisecond, ' +
  '%f fraction, %n nanosecond, %z offset';

interface DateFormat {
  /** Regular expression (RE2) of the whole text, ignoring case. */
  readonly pattern: string;
  readonly time: boolean;
  /** The text has its own offset from UTC. */
  readonly hasOffset: boolean;
  readonly matches: (text: string) => boolean;
}

/** @throws Failure InvalidBody for an unknown letter, and for a format without a date */
export function parseDateFormat(format: string): DateFormat {
  const letters = new Set<string>();
  const parts: Part[] = [];
  for (let at = 0; at < format.length; at += 1) {
    const sign = format[at] ?? '';
    if (sign !== '%') {
      parts.push(words(sign.toLowerCase()));
      continue;
    }
    const isJoined = at > 0 && parts.at(-1)?.kind === 'digits';
    // `%-d` is a day without a zero in front, which `%d` reads too.
    if (format[at + 1] === '-') at += 1;
    at += 1;
    const letter = format[at] ?? '';
    const part = letter === '%' ? words('%') : LETTERS[letter]?.part;
    if (part === undefined) {
      const got = `dateFormat: \`%${letter}\` in \`${format}\` is unknown`;
      throw new Failure('InvalidBody', `${got}; use ${MEANINGS}`);
    }
    letters.add(letter);
    // Between adjacent digits, a number of two digits has both.
    const isPair = part.kind === 'digits' && part.least === 1 && part.most === 2;
    parts.push(isPair && (isJoined || format[at + 1] === '%') ? digits(2) : part);
  }
  const hasYear = letters.has('Y') || letters.has('y');
  const hasDay = letters.has('j') || ['m', 'b', 'B'].some((one) => letters.has(one));
  if (!hasYear || !hasDay) {
    const rule =
      'must have a year and a month, such as dateFormat=%Y-%m-%d (--date-format %Y-%m-%d)';
    throw new Failure('InvalidBody', `dateFormat: \`${format}\` ${rule}; use ${MEANINGS}`);
  }
  return {
    pattern: parts.map(patternOf).join(''),
    time: [...letters].some((letter) => LETTERS[letter]?.clock === true),
    hasOffset: letters.has('z'),
    matches: (text) => {
      const lower = text.toLowerCase();
      let at: number | undefined = 0;
      for (const part of parts) at = at === undefined ? undefined : findEnd(part, lower, at);
      return at === text.length;
    },
  };
}

/** @throws as `parseDateFormat` */
export function checkDateFormat(format: string): void {
  parseDateFormat(format);
}
