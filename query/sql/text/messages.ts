// Rewrites DuckDB's errors for the caller of a query: keeps the sentence, without our printed text, our
// paths and our own columns.
import { Failure, UnchargedFailure, reasonOf } from '../../../store/base/failure.ts';
import { hyphenated } from './spelling.ts';
import { refuseAt, type Token, tokensOf } from './tokens.ts';

interface Limits {
  readonly memoryBytes: number;
  readonly spillBytes: number;
}

/** Errors of the query or of its values. Any other is an internal error. */
const KINDS = [
  'Binder',
  'Catalog',
  'Conversion',
  'Out of Range',
  'Invalid Input',
  'Invalid type',
  'Parameter Not Allowed',
  'Not implemented',
  'Parser',
  'Mismatch Type',
  'Syntax',
];
const QUERY_FAULTS = new RegExp(`^(?:${KINDS.join('|')}) Error: `, 'i');

/** Errors that occur while records are read, and may quote them. */
const VALUE_FAULTS =
  /^(?:Conversion|Out of Range|Invalid Input|Invalid type|Not implemented) Error/i;

/** `FROM a, b LEFT JOIN c ON a.x = c.x`: the ON sees b and c alone, a is outside. */
const LATERAL_OUTER = /Non-inner join on correlated columns/;
const LATERAL_RULE =
  'an outer join is not supported whose ON names a table before a comma: write CROSS JOIN for the comma';

/**
 * Converts a failure of the pool to one for the caller of a query.
 * @param source the user's text, to locate the name that a message is about
 * @param foreign whether it reads data of other accounts: then no value is revealed, guessed right or not
 */
export function toCallerFailure(
  error: unknown,
  { memoryBytes, spillBytes }: Limits,
  source: string,
  foreign: boolean,
): unknown {
  if (!(error instanceof Failure)) return error;
  // An answer can't represent a column.
  if (error.type === 'InvalidParameter') {
    return new UnchargedFailure('InvalidParameter', `"sqlQuery": ${error.detail ?? ''}`);
  }
  if (error.type !== 'SystemError') return error;
  const reason = reasonOf(error);
  if (/^Out of Memory Error/i.test(reason)) {
    const limit = /max_temp_directory_size/i.test(reason)
      ? `spilled over ${spillBytes} bytes to disk`
      : `needed over ${memoryBytes} bytes of memory`;
    return new Failure('TooLarge', `the query ${limit}, the limit of its tier: narrow it`);
  }
  if (!QUERY_FAULTS.test(reason)) return error;
  if (LATERAL_OUTER.test(reason)) return buildRefusal(source, undefined, LATERAL_RULE);
  const isOfValues = VALUE_FAULTS.test(reason);
  const whole = reason
    .replace(QUERY_FAULTS, '')
    // Cut the excerpt of our printed statement that follows.
    .split(/LINE \d+:/, 1)
    .join('')
    .trim();
  const text = isOfValues ? (whole.split('\n', 1)[0] ?? '') : whole.replaceAll('\n', ' ');
  // A failed query is not charged, so its message must not reveal values of records.
  if (isOfValues && (foreign || !quotesSource(text, source))) {
    const rule = 'a value of the data does not fit a cast or a function: TRY_CAST makes it null';
    return new Failure('InvalidParameter', `"sqlQuery": ${rule}`);
  }
  const isOurs = /_system_(?!RecordProperties)|read_parquet|\.parquet|\//i.test(text);
  const rule = isOurs ? 'the query can not be run as it is written' : text.slice(0, 500);
  const refusal =
    hyphenRefusal(source, text) ?? buildRefusal(source, placeOfName(source, rule), rule);
  if (isOfValues || !(refusal instanceof Failure)) return refusal;
  return new UnchargedFailure(refusal.type, refusal.detail);
}

/** Whether a message quotes something, and all of it is in the user's text. */
function quotesSource(message: string, source: string): boolean {
  const quoted = [...message.matchAll(/"([^"]*)"|'([^']*)'/g)].map(([, a, b]) => a ?? b ?? '');
  return quoted.length > 0 && quoted.every((part) => source.includes(part));
}

function buildRefusal(source: string, at: number | undefined, rule: string): unknown {
  try {
    return refuseAt(source, at, rule);
  } catch (failure) {
    return failure;
  }
}

/** Explains an unknown column that is a part of `adj-close`, which was parsed as adj minus close. */
function hyphenRefusal(source: string, message: string): unknown {
  const column = /column (?:named )?"([^"]+)"/.exec(message)?.[1]?.toLowerCase();
  if (column === undefined || !/not found|does not have/.test(message)) return undefined;
  const tokens = tokensOf(source);
  for (let first = 0; first < tokens.length; first += 1) {
    const name = hyphenated(tokens, first);
    if (name === undefined) continue;
    if (name.value.toLowerCase().split('-').includes(column)) {
      const [before, after] = [name.value.replaceAll('-', ' minus '), `\`${name.value}\``];
      const rule = `there is no column ${column}: ${name.value} is read as ${before}`;
      return buildRefusal(
        source,
        tokens[first]?.at,
        `${rule}; write ${after} for a name with a hyphen`,
      );
    }
    first = name.last;
  }
  return undefined;
}

/** Finds the position in the user's text of the first name that a message quotes. */
function placeOfName(source: string, message: string): number | undefined {
  const name = /"([^"]+)"/.exec(message)?.[1]?.toLowerCase();
  if (name === undefined) return undefined;
  const parts = name.split('.');
  const isNamed = ({ kind, value }: Token): boolean =>
    (kind === 'word' || kind === 'name') && value.toLowerCase() === parts.at(-1);
  return tokensOf(source).find(isNamed)?.at;
}
