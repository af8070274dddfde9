// Parses numbers as people write them in tables: 1,234.50 and 1.234,50, 12,34,567, $ and %, 68.18K, (12) and
// 12- for -12. A column is read in one style, which all of its values must have; a column with an undecided
// style stays text.
import { DIGITS_MAX } from './exactText.ts';
import { withoutSpaces } from './missing.ts';
import { literal } from '../../store/duckdb/sqlText.ts';

/** The decimal separator: 1,234.5 or 1.234,5. */
export type NumberStyle = 'point' | 'comma';

const SPACE = '[ \u00A0\u202F]';
/** A sign, or one of the codes of ISO 4217 that are most common in tables. */
const CURRENCY =
  '(?:[$€£¥₹]|USD|EUR|GBP|JPY|CHF|CAD|AUD|NZD|CNY|HKD|SGD|SEK|NOK|DKK|INR|ZAR|BRL|MXN|KRW|PLN|CZK|TRY)';
const FIRST = String.raw`[1-9]\d{0,2}`;
const grouped = (sign: string, decimals: string): string =>
  String.raw`${FIRST}(?:${sign}\d{3})+(?:${decimals}\d+)?`;
/** Indian grouping: 12,34,567.89. */
const LAKHS = String.raw`[1-9]\d?(?:,\d{2})+,\d{3}`;
const buildBody = (group: string, decimals: string): string =>
  [
    grouped(group, decimals),
    grouped(SPACE, decimals),
    grouped("['’]", decimals),
    ...(group === ',' ? [String.raw`${LAKHS}(?:\.\d+)?`] : []),
    String.raw`(?:0|[1-9]\d*)(?:${decimals}\d+)?`,
    String.raw`${decimals}\d+`,
  ].join('|');

/** Longer than any written number; a longer text is not parsed. */
const NUMBER_CHARACTERS_MAX = 60;

const SCALE = '(?:[kKmMbBtT]|bn|Bn|BN|mn|Mn|MN|tn|Tn|TN)';
const SUFFIX = `(?:${SPACE}?${SCALE})?(?:${SPACE}?(?:${CURRENCY}|%))?`;
const BEFORE = `(?:${CURRENCY}${SPACE}?)?`;
const SIGNED = `(?:[-+−]?${BEFORE}|${CURRENCY}${SPACE}?[-+−])`;
/** A whole value; also 5.00- and $(5.00), as in accounting. */
const buildWhole = (body: string): string =>
  [
    `^(?:${SIGNED}(?:${body})${SUFFIX}`,
    `${BEFORE}(?:${body})${SUFFIX}${SPACE}?[-−]`,
    String.raw`${BEFORE}\(${BEFORE}(?:${body})${SUFFIX}\))$`,
  ].join('|');

/** Regular expressions that are valid in RE2 too. */
const PATTERNS: Readonly<Record<NumberStyle, string>> = {
  point: buildWhole(buildBody(',', String.raw`\.`)),
  comma: buildWhole(buildBody(String.raw`\.`, ',')),
};
/** Numbers that casts read as well, with any number of digits. 9876E5 may be a code. */
const EXPONENT = '(?:[eE][-+]?\\d{1,3})?';
const PLAIN: Readonly<Record<NumberStyle, string>> = {
  point: String.raw`^[-+]?(?:(?:0|[1-9]\d*)(?:\.\d*${EXPONENT}|(?:[eE][-+]\d{1,3})?)|\.\d+${EXPONENT})$`,
  comma: String.raw`^[-+]?(?:0|[1-9]\d*)$`,
};
const DECIMALS: Readonly<Record<NumberStyle, string>> = {
  point: String.raw`\.\d|\d[eE][-+0-9]`,
  comma: String.raw`,\d`,
};
/** Groups of lakhs, and groups that occur only in thousands. */
const LAKH_GROUPS = String.raw`\d,\d{2},`;
const THOUSAND_GROUPS = String.raw`\d{3},\d{3}`;
/** 3M may be three months, whereas 3.5M is a number. */
const SCALED = String.raw`[0-9] ?${SCALE}\b`;
const SCALED_DECIMALS = String.raw`[.,]\d+ ?${SCALE}\b`;
/** Powers of ten of the suffix of a number, by its first letter. */
const POWERS = { k: 3, m: 6, b: 9, t: 12 } as const;
/** Groups that also occur in telephone numbers and addresses. */
const LOOSE_GROUPS = String.raw`\d[ \x{a0}\x{202f}.]\d{3}\b`;

/** Counts of the values of a column by how they can be read as numbers. */
export interface NumberTally {
  readonly count: number;
  /** Numbers in neither style, or with too many digits. */
  readonly neither: number;
  /** Numbers that casts read. */
  readonly plain: number;
  readonly pointOnly: number;
  readonly commaOnly: number;
  /** Values such as 1,234 and 1.234: another number in the other style. */
  readonly openComma: number;
  readonly openPoint: number;
  readonly decimalPoints: number;
  readonly decimalCommas: number;
  readonly percents: number;
  readonly currencies: number;
  readonly leastCurrency: string;
  readonly mostCurrency: string;
  /** Values with groups that begin with a space or a point. */
  readonly loose: number;
  readonly leastGroups: number;
  readonly mostGroups: number;
  readonly lakhs: number;
  /** Values with groups that occur only in thousands. */
  readonly thousands: number;
  readonly scaled: number;
  readonly scaledDecimals: number;
}

export interface NumberSpelling {
  readonly style: NumberStyle;
  readonly whole: boolean;
}

/** The style that a column proves for the others of its file: 12.5 or 12,5 can be read in one way only. */
export const provedStyle = ({
  commaOnly,
  neither,
  pointOnly,
}: NumberTally): NumberStyle | undefined => {
  if (neither > 0 || (pointOnly > 0 && commaOnly > 0)) return undefined;
  if (pointOnly > 0) return 'point';
  return commaOnly > 0 ? 'comma' : undefined;
};

/**
 * Decides how a column is read.
 * @param beside the style of the other columns of the file, if they prove one
 * @param delimiter of the file, after all values were counted: it decides undecided values. With
 *   semicolons between cells, a comma is a decimal separator; with commas, 1,234 is 1234.
 */
export function numberVerdict(
  tally: NumberTally,
  delimiter?: string,
  beside?: NumberStyle,
): NumberSpelling | 'ambiguous' | undefined {
  const { commaOnly, currencies, openComma, openPoint, percents, pointOnly, count } = tally;
  if (count === 0 || tally.neither > 0 || (pointOnly > 0 && commaOnly > 0)) return undefined;
  // Beside 12,5 of another column 1.234 is a thousand.
  if (beside === 'comma' && openPoint > 0 && pointOnly === 0 && openComma === 0) {
    return { style: 'comma', whole: tally.decimalCommas === 0 };
  }
  // As in a sample: a plain 1.234 is not suspected to be a thousand.
  if (tally.plain === count) return { style: 'point', whole: tally.decimalPoints === 0 };
  // 5 % beside 5, and dollars beside euros, are different quantities.
  if (percents > 0 && percents < count) return undefined;
  if (tally.leastCurrency !== tally.mostCurrency) return undefined;
  if (tally.lakhs > 0 && tally.thousands > 0) return undefined;
  if (tally.scaled > 0 && tally.scaledDecimals + currencies === 0) return undefined;
  const style = decideStyle(tally, delimiter, beside);
  if (style === undefined) return openComma > 0 && openPoint > 0 ? undefined : 'ambiguous';
  const decimals = style === 'point' ? tally.decimalPoints : tally.decimalCommas;
  const proved = decimals + currencies + percents > 0 || tally.leastGroups < tally.mostGroups;
  if (tally.loose + tally.lakhs > 0 && !proved) return undefined;
  return { style, whole: decimals === 0 };
}

function decideStyle(
  tally: NumberTally,
  delimiter: string | undefined,
  beside: NumberStyle | undefined,
): NumberStyle | undefined {
  const { commaOnly, openComma, openPoint, pointOnly } = tally;
  if (pointOnly > 0) return 'point';
  if (commaOnly > 0) return 'comma';
  if (openComma + openPoint === 0) return 'point';
  if (openComma > 0 && openPoint > 0) return undefined;
  if (beside !== undefined) return beside;
  if (delimiter === ';') return 'comma';
  return delimiter === ',' && openPoint === 0 ? 'point' : undefined;
}

const compile = (pattern: string): RegExp =>
  new RegExp(pattern.replaceAll(/\\x\{([0-9a-f]+)\}/g, String.raw`\u{$1}`), 'u');
const AS_POINT = compile(PATTERNS.point);
const PLAIN_POINT = new RegExp(PLAIN.point);
const PLAIN_COMMA = new RegExp(PLAIN.comma);
const AS_COMMA = compile(PATTERNS.comma);
const POINT_DECIMALS = compile(DECIMALS.point);
const COMMA_DECIMALS = compile(DECIMALS.comma);
const LOOSE = new RegExp(String.raw`\d[ \u00A0\u202F.]\d{3}(?!\d)`);
const GROUPS = new RegExp(String.raw`[ \u00A0\u202F.'’,]\d{3}(?!\d)`, 'g');
const SIGN = compile(CURRENCY);
const IS_LAKH = new RegExp(LAKH_GROUPS);
const IS_THOUSAND = new RegExp(THOUSAND_GROUPS);
const IS_SCALED = new RegExp(SCALED);
const IS_SCALED_DECIMAL = new RegExp(SCALED_DECIMALS);

interface PossibleStyles {
  readonly point: boolean;
  readonly comma: boolean;
}

/** Undefined if the value is not a number in either style. */
function parseStyles(value: string): PossibleStyles | undefined {
  if (value.length > NUMBER_CHARACTERS_MAX) return undefined;
  const few = value.replace(/\D/g, '').length <= DIGITS_MAX;
  const point = PLAIN_POINT.test(value) || (few && AS_POINT.test(value));
  const comma = PLAIN_COMMA.test(value) || (few && AS_COMMA.test(value));
  return point || comma ? { point, comma } : undefined;
}

/** Whether a value is a number in one of the styles. */
export const isNumberText = (value: string): boolean =>
  parseStyles(withoutSpaces(value)) !== undefined;

/** Undefined at the first value that is not a number. */
export function tallyNumbers(values: readonly string[]): NumberTally | undefined {
  const tally = {
    plain: 0,
    pointOnly: 0,
    commaOnly: 0,
    openComma: 0,
    openPoint: 0,
    decimalPoints: 0,
    decimalCommas: 0,
    percents: 0,
    currencies: 0,
    loose: 0,
    lakhs: 0,
    thousands: 0,
    scaled: 0,
    scaledDecimals: 0,
  };
  const signs: string[] = [];
  const groups: number[] = [];
  for (const spaced of values) {
    const value = withoutSpaces(spaced);
    const reading = parseStyles(value);
    if (reading === undefined) return undefined;
    const { comma, point } = reading;
    if (PLAIN_POINT.test(value)) tally.plain += 1;
    if (!comma) tally.pointOnly += 1;
    if (!point) tally.commaOnly += 1;
    if (comma && point && value.includes(',')) tally.openComma += 1;
    if (comma && point && value.includes('.')) tally.openPoint += 1;
    if (POINT_DECIMALS.test(value)) tally.decimalPoints += 1;
    if (COMMA_DECIMALS.test(value)) tally.decimalCommas += 1;
    if (value.includes('%')) tally.percents += 1;
    if (LOOSE.test(value)) tally.loose += 1;
    if (IS_LAKH.test(value)) tally.lakhs += 1;
    if (IS_THOUSAND.test(value)) tally.thousands += 1;
    if (IS_SCALED.test(value)) tally.scaled += 1;
    if (IS_SCALED_DECIMAL.test(value)) tally.scaledDecimals += 1;
    const sign = SIGN.exec(value)?.[0];
    if (sign !== undefined) {
      tally.currencies += 1;
      signs.push(sign);
    }
    groups.push(value.match(GROUPS)?.length ?? 0);
  }
  signs.sort();
  groups.sort((one, other) => one - other);
  return {
    count: values.length,
    neither: 0,
    ...tally,
    leastCurrency: signs[0] ?? '',
    mostCurrency: signs.at(-1) ?? '',
    leastGroups: groups[0] ?? 0,
    mostGroups: groups.at(-1) ?? 0,
  };
}

const matches = (text: string, pattern: string): string =>
  `regexp_full_match(${text}, ${literal(pattern)})`;
const contains = (text: string, pattern: string): string =>
  `regexp_matches(${text}, ${literal(pattern)})`;

/** Members of a SELECT of a trimmed text, which `numberTallyTerms` counts. */
export function numberMembers(text: string): string {
  const digits = `length(regexp_replace(${text}, '[^0-9]', '', 'g')) <= ${DIGITS_MAX}
    AND length(${text}) <= ${NUMBER_CHARACTERS_MAX}`;
  const plain = (style: NumberStyle): string => matches(text, PLAIN[style]);
  const reads = (style: NumberStyle): string =>
    `${plain(style)} OR ${digits} AND ${matches(text, PATTERNS[style])}`;
  const groups = String.raw`[ \x{a0}\x{202f}.'’,]\d{3}\b`;
  return `${text} AS text, ${plain('point')} AS plain_number,
    ${reads('point')} AS point, ${reads('comma')} AS comma,
    nullif(regexp_extract(${text}, ${literal(CURRENCY)}), '') AS sign,
    len(regexp_extract_all(${text}, ${literal(groups)})) AS parts`;
}

/** Terms of a SELECT over these members, by the names of `NumberTally`. @param counted condition of a row */
export function numberTallyTerms(counted: string): Readonly<Record<string, string>> {
  const count = (condition: string): string =>
    `count(*) FILTER (WHERE ${counted} AND ${condition})`;
  const of = (term: string): string => `${term} FILTER (WHERE ${counted})`;
  return {
    neither: count('NOT point AND NOT comma'),
    plain: count('plain_number'),
    pointOnly: count('point AND NOT comma'),
    commaOnly: count('NOT point AND comma'),
    openComma: count("contains(text, ',') AND point AND comma"),
    openPoint: count("contains(text, '.') AND point AND comma"),
    decimalPoints: count(contains('text', DECIMALS.point)),
    decimalCommas: count(contains('text', DECIMALS.comma)),
    percents: count("contains(text, '%')"),
    currencies: of('count(sign)'),
    leastCurrency: `coalesce(${of('min(sign)')}, '')`,
    mostCurrency: `coalesce(${of('max(sign)')}, '')`,
    loose: count(contains('text', LOOSE_GROUPS)),
    lakhs: count(contains('text', LAKH_GROUPS)),
    thousands: count(contains('text', THOUSAND_GROUPS)),
    scaled: count(contains('text', SCALED)),
    scaledDecimals: count(contains('text', SCALED_DECIMALS)),
    leastGroups: `coalesce(${of('min(parts)')}, 0)`,
    mostGroups: `coalesce(${of('max(parts)')}, 0)`,
  };
}

/**
 * The number of a text in that style, as digits that casts read; null if it is none. 68.18K becomes
 * 68.18e+3, so that no digit is rounded.
 */
export function plainNumber(spaced: string, style: NumberStyle): string {
  const text = `trim(${spaced})`;
  const dropped = style === 'point' ? '[^0-9.]' : '[^0-9,]';
  const digits = `replace(regexp_replace(${text}, ${literal(dropped)}, '', 'g'), ',', '.')`;
  const fits = `length(${digits}) <= ${DIGITS_MAX + 1} AND ${matches(text, PATTERNS[style])}`;
  const negative = contains(text, '[-−(]');
  const scale = `lower(left(trim(regexp_extract(${text}, ${literal(SCALED)})[2:]), 1))`;
  const powers = Object.entries(POWERS).map(
    ([letter, power]) => `WHEN '${letter}' THEN 'e+${power}'`,
  );
  const power = `CASE ${scale} ${powers.join(' ')} ELSE '' END`;
  return `CASE WHEN ${matches(text, PLAIN[style])} THEN ${text}
    WHEN ${fits} THEN concat(CASE WHEN ${negative} THEN '-' ELSE '' END, ${digits}, ${power}) END`;
}

/** SQL test whether the text is a number that casts read. */
export const isPlainNumber = (text: string): string =>
  `(${matches(text, PLAIN.point)} OR ${matches(text, PLAIN.comma)})`;

/** SQL test whether casts read another number than the style: 1.234 is 1234 with decimal commas. */
export const isOtherNumber = (text: string, style: NumberStyle): string =>
  `(${matches(text, PLAIN.point)} AND NOT ${matches(text, PLAIN[style])})`;
