// What of the interface is served, row by row, each with the transcript that shows it, or `later`.
// `docs/reference/coverage.md` is generated from here; a test looks that every transcript named is there.
import { INTERFACE } from './coverageInterface.ts';
import type { CoverageRow } from './coverageRow.ts';
import { SPEC } from './coverageSpec.ts';

export const COVERAGE: readonly CoverageRow[] = [...SPEC, ...INTERFACE];

/** The table as a page. */
export function coveragePage(): string {
  const shown = COVERAGE.filter((row) => row.shown !== 'later').length;
  const lines = COVERAGE.map(
    ({ section, row, shown: where }) => `| ${section} | ${row} | ${where} |`,
  );
  return [
    '# Coverage',
    '',
    'Generated from `docs/pages/coverage.ts` by `npm run docs`; do not edit. A place such as `read#on` is',
    'the block of that title in `test/http/cases/reads/read.http`.',
    '',
    `${shown} of ${COVERAGE.length} rows are served.`,
    '',
    '| section | row | shown by |',
    '|---|---|---|',
    ...lines,
    '',
  ].join('\n');
}
