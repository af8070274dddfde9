// What a test tells beside its result: seeds, counts, measurements. The report prints it.
import type { TestContext } from 'vitest';

/** The running test, or that part of it. */
export type Noted = Pick<TestContext, 'annotate'>;

/** Adds a line to the report of the running test. */
export function note({ annotate }: Noted, line: string): void {
  // The test awaits it before it ends.
  void annotate(line);
}
