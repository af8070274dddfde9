// The report of a run: plain data in, lines out. The last line is `N passed, N failed` (`, N skipped`):
// the continuous integration reads it.

export interface Failed {
  readonly name: string;
  readonly reason: string;
}

/** Results of one test file. */
export interface FileReport {
  /** From the root. */
  readonly file: string;
  readonly passed: number;
  readonly failed: readonly Failed[];
  /** Titles, with the reason where there is one. */
  readonly skipped: readonly string[];
  /** Notes of its tests: seeds, notes, output. */
  readonly notes: readonly string[];
  readonly ms: number;
}

/** A line of counts and seconds, then the notes of the file, and its failures in full. */
export function linesOf(report: FileReport): readonly string[] {
  const { failed, file, ms, notes, skipped } = report;
  return [
    `${failed.length === 0 ? '✔' : '✖'} ${file}  ${countsOf([report])}  ${secondsOf(ms)}`,
    ...notes.map((text) => indent(text.trimEnd(), 4)),
    ...skipped.map((title) => `  - skipped: ${title}`),
    ...failed.map(({ name, reason }) => `  ✖ ${name}\n${indent(reason, 6)}`),
  ];
}

/**
 * The failures again, in full, so that the end of a report has the reasons. Then the totals.
 * `outside` are failures of no known file.
 */
export function summary(
  reports: readonly FileReport[],
  outside: readonly Failed[],
  ms: number,
): { readonly lines: readonly string[]; readonly ok: boolean } {
  const named = reports.flatMap(({ file, failed }) =>
    failed.map(({ name, reason }) => ({ name: `${file}  ${name}`, reason })),
  );
  const failures = [...named, ...outside];
  const passed = reports.reduce((sum, report) => sum + report.passed, 0);
  const lines = [
    '',
    ...failures.map(({ name, reason }) => `✖ ${name}\n${indent(reason, 6)}`),
    ...(passed + failures.length === 0 ? ['No test ran.'] : []),
    `${reports.length} files, ${secondsOf(ms)}`,
    countsOf(reports, outside.length),
  ];
  return { lines, ok: passed > 0 && failures.length === 0 };
}

function countsOf(reports: readonly FileReport[], more = 0): string {
  const sum = (count: (report: FileReport) => number): number =>
    reports.reduce((total, report) => total + count(report), 0);
  const skipped = sum((report) => report.skipped.length);
  return (
    `${sum(({ passed }) => passed)} passed, ${sum(({ failed }) => failed.length) + more} failed` +
    (skipped === 0 ? '' : `, ${skipped} skipped`)
  );
}

/** A thrown error: its message, stack and causes. */
export interface Thrown {
  readonly name?: string | undefined;
  readonly message: string;
  readonly stack?: string | undefined;
  readonly cause?: unknown;
}

/** Reports paths below `root` relative to it. */
export function reasonOf(thrown: Thrown, root: string): string {
  const { cause, message, name = 'Error', stack = '' } = thrown;
  const text = stack.includes(message) ? stack : `${name}: ${message}\n${stack}`;
  const own = text
    .split('\n')
    .filter((line) => !/^\s+at .*(?:node:|node_modules|<anonymous>)/.test(line));
  const paths = own.join('\n').replaceAll(`file://${root}/`, '').replaceAll(`${root}/`, '');
  const trace = paths.replace(/\?vitest=\d+/g, '').trimEnd();
  return isThrown(cause) ? `${trace}\ncaused by ${reasonOf(cause, root)}` : trace;
}

const isThrown = (value: unknown): value is Thrown =>
  typeof value === 'object' && value !== null && 'message' in value && value.message !== undefined;

const secondsOf = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

const indent = (text: string, columns: number): string =>
  text.replace(/^(?=.)/gm, ' '.repeat(columns));
