// Names of a file's columns: what may stand in a header.
import { isReserved, PROPERTIES_MAX } from '../store/columns.ts';
import { Failure } from '../store/failure.ts';

/** @throws Failure InvalidBody naming the column and what is wrong with it. */
export function checkHeader(header: readonly string[]): readonly string[] {
  if (header.length === 0) throw new Failure('InvalidBody', 'the body has no header line');
  if (header.length > PROPERTIES_MAX) {
    throw new Failure('InvalidBody', `the header has over ${PROPERTIES_MAX} columns`);
  }
  const seen = new Set<string>();
  for (const name of header) {
    if (name.trim() === '') throw new Failure('InvalidBody', 'the header has an empty column name');
    if (isReserved(name)) {
      throw new Failure('InvalidBody', `column ${name} begins with the reserved prefix _system`);
    }
    // SQL compares names without case, so two that differ only in case can not stand side by side.
    if (seen.has(name.toLowerCase())) {
      throw new Failure('InvalidBody', `the header names column ${name} twice`);
    }
    seen.add(name.toLowerCase());
  }
  return header;
}
