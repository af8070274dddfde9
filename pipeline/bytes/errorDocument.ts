// Detects a response that reports an error instead of records, as data vendors write it: JSON, or one line of
// text. Its shape decides: one object whose members all belong to this vocabulary. A record of the same shape
// loads with as=json.
import { quoteExcerpt } from './excerpt.ts';

/** Larger bodies are records. */
const ERROR_BYTES_MAX = 16 * 1024;
/** Maximum bytes of a sentence. */
const SENTENCE_BYTES_MAX = 1_000;
/** Nested objects: `{"chart": {"error": {"description": …}}}`. */
const DEPTH_MAX = 3;

/** Members that mean an error when they are not empty. */
const ERROR_NAMES = namesOf(
  'error errors fault exception message detail note information errmsg errcode',
  'errormessage errordescription errorcode errortype errormsg bcodemessage developermessage',
);
/** A member whose name ends so: `quandl_error`. */
const ERROR_NAME = /error$/;

/** Members that mean an error beside a failure code. */
const SENTENCES = namesOf('msg retmsg reason title info statusmessage statustext label');
const CODES = namesOf('code status statuscode retcode success ok s rcode');

/** Members that may accompany them; any other belongs to a record. */
const COMPANIONS = namesOf(
  'type instance timestamp time ts path method requestid traceid documentationurl details help hint',
  'description result results data meta count querycount resultscount nexttime nb retextinfo elapsed',
);
/** Names of a single member that wraps the whole document. */
const WRAPPERS = namesOf('chart finance response body answer quotesummary optionchain spark');
/** Those members that contain the records, if there are any. */
const RECORDS = namesOf('data result results');

const FINE = /^(?:0+|2\d\d|ok|success|true|done|delayed|active|enabled|closed|open|completed?)$/i;
const FAILED = /^(?:error|failed|failure|fail|false|no_data|not_authorized|-?\d{2,}|nodata)$/i;

/** Lines of text that no table has as its header. */
const LINE = [
  /^(?:n\/d|error|forbidden|unauthori[sz]ed|unauthenticated|not found|unknown symbol)[.!]?$/i,
  /\bno (?:data|results?|records?)\b|\bnot (?:found|authori[sz]ed|allowed|available|entitled)\b/i,
  /\b(?:exceeded|too many|rate limit|hits limit|limit reach|forbidden|unauthori[sz]ed|denied)/i,
  /\b(?:invalid|unknown|missing|expired|wrong) (?:api|access|symbol|ticker|token|key|request|user)/i,
  /\bapi[ _-]?key (?:provided )?(?:is|was|required|missing)\b|\bservice unavailable\b/i,
];

function namesOf(...lists: readonly string[]): ReadonlySet<string> {
  return new Set(lists.flatMap((list) => list.split(' ')));
}

/** Normalizes a name: `Error Message`, `error_message` and `errorMessage` are one. */
const plainName = (name: string): string => name.toLowerCase().replaceAll(/[ _-]/g, '');

/** The text of the error; undefined if the body is not an error response. */
export function findErrorText(head: Buffer): string | undefined {
  if (head.length > ERROR_BYTES_MAX) return undefined;
  const text = head
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .trim();
  const sentence = /^[[{]/.test(text) ? errorOf(parsed(text)) : lineIn(text);
  return sentence === undefined ? undefined : `an error (${quoteExcerpt(sentence)})`;
}

function errorOf(document: unknown): string | undefined {
  if (!Array.isArray(document)) return sentenceOf(document, 0);
  const [first, ...more] = document as readonly unknown[];
  if (first === 'error') return more.map(String).join(' ');
  return more.length > 0 ? undefined : sentenceOf(first, 0);
}

function sentenceOf(value: unknown, depth: number): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const members = Object.entries(value).map(([name, one]): readonly [string, unknown] => [
    plainName(name),
    one,
  ]);
  const inner = depth < DEPTH_MAX ? innerError(members, depth) : undefined;
  if (inner !== undefined) return inner;
  if (members.some(([name, one]) => !isCompanion(name, one))) return undefined;
  const errors = members.filter(([name, one]) => isErrorName(name) && !isEmpty(one));
  const failed = members.find(([name, one]) => CODES.has(name) && isFailure(one));
  const besides = failed === undefined ? [] : members.filter(([name]) => SENTENCES.has(name));
  const all = [...errors, ...besides];
  const words = all.map(([, one]) => findSentence(one)).find((one) => one !== undefined);
  if (words !== undefined) return words;
  const [[, other] = []] = all;
  if (other !== undefined) return JSON.stringify(other);
  // `{"s": "no_data"}`, without any further text.
  return typeof failed?.[1] === 'string' ? failed[1] : undefined;
}

const isErrorName = (name: string): boolean => ERROR_NAMES.has(name) || ERROR_NAME.test(name);

/** The error inside an object that wraps everything, or inside its `status`. */
function innerError(
  members: readonly (readonly [string, unknown])[],
  depth: number,
): string | undefined {
  const [[name, only] = []] = members;
  if (members.length === 1 && WRAPPERS.has(name ?? '')) return sentenceOf(only, depth + 1);
  const status = members.find(([one]) => one === 'status')?.[1];
  const others = members.filter(([one]) => one !== 'status');
  if (typeof status !== 'object' || !others.every(([, one]) => isEmpty(one))) return undefined;
  return sentenceOf(status, depth + 1);
}

function isCompanion(name: string, value: unknown): boolean {
  if (RECORDS.has(name)) return isEmpty(value);
  return (
    isErrorName(name) ||
    SENTENCES.has(name) ||
    CODES.has(name) ||
    COMPANIONS.has(name) ||
    isList(value)
  );
}

/** Members of a columnar response without rows. */
const isList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

const isFailure = (value: unknown): boolean =>
  value === false ||
  (typeof value === 'number' && (value < 0 || value >= 300)) ||
  (typeof value === 'string' && FAILED.test(value) && !FINE.test(value));

const isEmpty = (value: unknown): boolean =>
  value === null ||
  value === '' ||
  value === false ||
  value === 0 ||
  (typeof value === 'object' && Object.keys(value).length === 0);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Many records, or none: reading them reports why.
    return undefined;
  }
}

/** Finds the sentence in an error's value. */
function findSentence(value: unknown): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value;
  if (typeof value !== 'object' || value === null) return undefined;
  const first = ([name]: readonly [string, unknown]): number =>
    /message|info|detail|description/i.test(name) ? 0 : 1;
  const inner = Object.entries(value).sort((a, b) => first(a) - first(b));
  return inner.map(([, one]) => findSentence(one)).find((words) => words !== undefined);
}

/** The only line of a text, if it is a sentence about an error. */
function lineIn(text: string): string | undefined {
  if (text.length > SENTENCE_BYTES_MAX || /[\r\n\t;|]|,\S/.test(text)) return undefined;
  const line = text.replaceAll('"', '').trim();
  return LINE.some((pattern) => pattern.test(line)) ? line : undefined;
}
