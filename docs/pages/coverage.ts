// Rows of the interface, each with the transcript that proves it, or `later`. `docs/reference/coverage.md` is
// generated from them; a test checks that every transcript exists.
import { INTERFACE } from './coverageInterface.ts';
import type { CoverageRow } from './coverageRow.ts';
import { SPEC } from './coverageSpec.ts';

export const COVERAGE: readonly CoverageRow[] = [...SPEC, ...INTERFACE];

/** The table as a page. */
export function coveragePage(): string {
  const served = COVERAGE.filter((row) => row.proof !== 'later').length;
  const lines = COVERAGE.map(({ section, row, proof }) => `| ${section} | ${row} | ${proof} |`);
  return [
    '# Coverage',
    '',
    'Generated from `docs/pages/coverage.ts` by `npm run docs`; do not edit. A place such as `read#on` is',
    'the block of that title in `test/http/cases/reads/read.http`.',
    '',
    `${served} of ${COVERAGE.length} rows are served.`,
    '',
    '| section | row | proved by |',
    '| --- | --- | --- |',
    ...lines,
    '',
  ].join('\n');
}
