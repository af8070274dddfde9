// What a test tells beside its result: seeds, counts, measurements. The report prints it.
import type { TestContext } from 'vitest';

/** Adds a line to the report of the running test. */
export function note(context: TestContext, line: string): void {
  // The test awaits it before it ends.
  void context.annotate(line);
}
