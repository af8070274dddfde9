// Orders the files of a run by order.ts.
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { readDurations } from './durations.ts';
import { longestFirst } from './order.ts';

export class LongestFirst extends BaseSequencer {
  override sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const files = specifications.map(({ moduleId, project }) => ({
      path: relative(project.config.root, moduleId),
      project: project.name,
    }));
    const order = longestFirst(files, readDurations());
    return Promise.resolve(order.flatMap((at) => specifications[at] ?? []));
  }
}
