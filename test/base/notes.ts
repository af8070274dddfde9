// Notes of a test beside its result: seeds, counts, measurements. The report prints them.
import type { TestContext } from 'vitest';

/** The running test, or the part of it that notes need. */
export type Noted = Pick<TestContext, 'annotate'>;

/** Adds a line to the report of the running test. */
export function note({ annotate }: Noted, line: string): void {
  // The test awaits it before it ends.
  void annotate(line);
}
