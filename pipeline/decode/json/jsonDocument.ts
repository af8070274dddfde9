// Refuses a JSON document with its records in a nested list, and proposes the lists that may have them.
import { Failure } from '../../../store/base/failure.ts';
import { quoteWord } from '../../../store/base/shellWord.ts';
import { printJsonPath } from './jsonPath.ts';
import type { JsonFraming } from '../../values/jsonRecords.ts';
import { RECORD_BYTES_MAX } from '../../values/relation.ts';
import type { JsonAnswer } from './jsonLines.ts';
import { oneDocument } from './jsonText.ts';

type Lists = Pick<Extract<JsonAnswer, { readonly kind: 'lists' }>, 'lists' | 'type'>;

/** Maximum lists that the error names, the longest first. */
const LISTED_MAX = 5;

/** False if the text has a second line: each line is then a record. */
export function isSingleDocument(head: Buffer, framing: JsonFraming): boolean {
  if (framing === 'objects') return true;
  return framing === 'lines' && !head.toString('utf8').trim().includes('\n');
}

/** Document types whose records are always in their list, even a list of one. */
const COLLECTIONS = ['FeatureCollection', 'Topology'];

/** @throws Failure InvalidBody naming the lists, if there are any. */
export function refuseDocument({ lists, type }: Lists, bytes: number): void {
  const isCollection = COLLECTIONS.includes(type ?? '');
  const [first] = lists;
  if (first === undefined || !lists.some(({ count }) => count > 1 || isCollection)) {
    if (bytes <= RECORD_BYTES_MAX) return;
    const what = `${oneDocument(bytes)} without a list of objects`;
    const rule = `a record has at most ${RECORD_BYTES_MAX}; pass jsonPath if its records are deeper`;
    throw new Failure('InvalidBody', `${what}: ${rule}, or write one object for each record`);
  }
  const descriptions = lists
    .slice(0, LISTED_MAX)
    .map(
      ({ count, steps, what }) =>
        `${printJsonPath(steps)} has ${count} ${what}${count === 1 ? '' : 's'}`,
    );
  const path = printJsonPath(first.steps);
  const rule = 'the body is one JSON document, no list of records';
  const option = `--json-path ${quoteWord(path)}`;
  const hint = `pass jsonPath=${path} (${option}), or as=json (--as json) if it is one record`;
  throw new Failure('InvalidBody', `${rule}: ${descriptions.join(', ')}; ${hint}`);
}
