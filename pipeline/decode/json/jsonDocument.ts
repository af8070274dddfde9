// A JSON document that holds its records somewhere inside: which of its lists they may be.
import { Failure } from '../../../store/base/failure.ts';
import { quoteWord } from '../../../store/base/shellWord.ts';
import { printJsonPath } from './jsonPath.ts';
import type { JsonFraming } from '../../values/jsonRecords.ts';
import { RECORD_BYTES_MAX } from '../../values/relation.ts';
import type { JsonAnswer } from './jsonLines.ts';

type Lists = Pick<Extract<JsonAnswer, { readonly kind: 'lists' }>, 'lists' | 'type'>;

/** Lists that are told, the longest first. */
const TOLD_MAX = 5;

/** False where a second line is to be seen: each of them is a record then. */
export function isAlone(head: Buffer, framing: JsonFraming): boolean {
  if (framing === 'objects') return true;
  return framing === 'lines' && !head.toString('utf8').trim().includes('\n');
}

/** Documents whose only records are in their list, be it as short as it may. */
const COLLECTIONS = ['FeatureCollection', 'Topology'];

/** @throws Failure InvalidBody naming the lists, where there are any. */
export function refuseDocument({ lists, type }: Lists, bytes: number): void {
  const isCollection = COLLECTIONS.includes(type ?? '');
  const [first] = lists;
  if (first === undefined || !lists.some(({ count }) => count > 1 || isCollection)) {
    if (bytes <= RECORD_BYTES_MAX) return;
    const what = `the body is one JSON document of ${bytes} bytes without a list of objects`;
    const rule = `a record has at most ${RECORD_BYTES_MAX}; say jsonPath if its records are deeper`;
    throw new Failure('InvalidBody', `${what}: ${rule}, or write one object for each record`);
  }
  const found = lists
    .slice(0, TOLD_MAX)
    .map(
      ({ count, steps, what }) =>
        `${printJsonPath(steps)} has ${count} ${what}${count === 1 ? '' : 's'}`,
    );
  const path = printJsonPath(first.steps);
  const rule = 'the body is one JSON document, no list of records';
  const option = `--json-path ${quoteWord(path)}`;
  const say = `say jsonPath=${path} (${option}), or as=json (--as json) if it is one record`;
  throw new Failure('InvalidBody', `${rule}: ${found.join(', ')}; ${say}`);
}
