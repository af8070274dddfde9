// An answer of JSON that tells an error instead of records.
import { quoted } from './excerpt.ts';

/** Larger bodies are records. */
const ERROR_BYTES_MAX = 16 * 1024;

/** Members that tell of an error by themselves. */
const TELLING = namesOf(
  'error errors fault exception message detail note information',
  'errormessage errordescription errorcode errortype',
);

/** Members that stand beside them; anything else is a record's own. */
const BESIDE = namesOf(
  'status statuscode code success ok msg reason title type instance timestamp path method',
  'requestid traceid documentationurl details help hint description result data',
);

function namesOf(...lists: readonly string[]): ReadonlySet<string> {
  return new Set(lists.flatMap((list) => list.split(' ')));
}

/** `Error Message`, `error_message` and `errorMessage` are one. */
const plainName = (name: string): string => name.toLowerCase().replaceAll(/[ _-]/g, '');

/** What the error says; undefined where the text is no document of one. */
export function errorIn(head: Buffer): string | undefined {
  if (head.length > ERROR_BYTES_MAX) return undefined;
  const document = parsed(head.toString('utf8').replace(/^\uFEFF/, ''));
  const [only, ...more] = Array.isArray(document) ? (document as unknown[]) : [document];
  if (more.length > 0 || typeof only !== 'object' || only === null) return undefined;
  const members = Object.entries(only);
  const isEmpty = (value: unknown): boolean =>
    value === null ||
    value === '' ||
    value === false ||
    value === 0 ||
    (typeof value === 'object' && Object.keys(value).length === 0);
  const told = members.filter(([name, value]) => TELLING.has(plainName(name)) && !isEmpty(value));
  const [telling] = told;
  if (telling === undefined) return undefined;
  const strange = members.some(
    ([name, value]) =>
      !TELLING.has(plainName(name)) &&
      (!BESIDE.has(plainName(name)) || (/^(?:data|result)$/i.test(name) && !isEmpty(value))),
  );
  if (strange) return undefined;
  const sentence = told.map(([, value]) => wordsOf(value)).find((words) => words !== undefined);
  return `an error (${quoted(sentence ?? JSON.stringify(telling[1]))})`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Many records, or none: whoever reads it says why.
    return undefined;
  }
}

/** The sentence in an error's value. */
function wordsOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return undefined;
  const inner = Object.entries(value).sort(([a]) => (/message|info|detail/i.test(a) ? -1 : 1));
  return inner.map(([, one]) => wordsOf(one)).find((words) => words !== undefined);
}
