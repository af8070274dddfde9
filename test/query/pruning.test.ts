// The order in which files are read.
import { expect, test } from 'vitest';
import { sortFilesByEnd } from '../../query/plan/pruning.ts';
import type { Column, ColumnType } from '../../store/lake/versions/columns.ts';
import type { DataFile } from '../../store/lake/versions/lakeRead.ts';

const fileOf = (id: number, min: string | null, max: string | null): DataFile => ({
  id,
  path: `${id}.parquet`,
  records: 1,
  bytes: 1,
  deletes: null,
  proof: undefined,
  ranges: new Map(
    min === null && max === null
      ? []
      : [
          [
            7,
            {
              min,
              max,
              nulls: 0,
            },
          ],
        ],
  ),
});
const columnOf = (type: ColumnType): Column => ({ id: 7, name: 'date', type, nullable: false });

const CASES: readonly [ColumnType, readonly (readonly [string, string])[]][] = [
  [
    'date',
    [
      ['2020-01-01', '2024-12-31'],
      ['2024-06-01', '2025-01-01'],
      ['2025-01-02', '2025-01-02'],
    ],
  ],
  [
    'int64',
    [
      ['9', '10'],
      ['99', '100'],
      ['1000', '1001'],
    ],
  ],
  [
    'timestamp',
    [
      ['2024-01-01 00:00:00', '2024-01-01 12:00:00'],
      ['2024-01-01 12:00:00.25', '2024-01-01 12:00:00.5'],
      ['2024-01-01 12:00:00.501', '2024-01-01 12:00:01'],
    ],
  ],
];

test.each(CASES)('files with the first records of an order come first: %s', (type, ranges) => {
  const files = ranges.map(([min, max], at) => fileOf(at, min, max));
  const mixed = [files[1], files[2], files[0]].flatMap((file) => file ?? []);
  expect(sortFilesByEnd(mixed, columnOf(type), 'asc').map(({ id }) => id)).toEqual([0, 1, 2]);
  expect(sortFilesByEnd(mixed, columnOf(type), 'desc').map(({ id }) => id)).toEqual([2, 1, 0]);
});

test('a file without statistics comes before all others', () => {
  const files = [fileOf(0, '2024-01-01', '2024-01-31'), fileOf(1, null, null)];
  for (const order of ['asc', 'desc'] as const) {
    expect(sortFilesByEnd(files, columnOf('date'), order).map(({ id }) => id)).toEqual([1, 0]);
  }
});
