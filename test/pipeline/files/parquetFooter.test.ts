// The length of a footer as its file declares it: a false one is no footer, one that is too large is refused.
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { footerBytes, readSchema } from '../../../pipeline/decode/pages/parquetFooter.ts';

/** A sparse file of this size that declares a footer of `length` bytes. */
async function withFooter<T>(
  size: number,
  length: number,
  read: (path: string) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'footer-'));
  try {
    const path = join(folder, 'file.parquet');
    const file = await open(path, 'w');
    const tail = Buffer.alloc(8);
    tail.writeUInt32LE(length);
    tail.write('PAR1', 4);
    await file.truncate(size);
    await file.write(tail, 0, 8, size - 8);
    await file.close();
    return await read(path);
  } finally {
    await rm(folder, { recursive: true });
  }
}

const MIB = 1024 ** 2;

test('a footer longer than its file is none', async () => {
  for (const [size, length] of [
    [100, 89],
    [100, 2 ** 32 - 1],
    [8, 0],
    [12, 1],
  ] as const) {
    expect([size, await withFooter(size, length, footerBytes)]).toEqual([size, 0]);
    expect([size, await withFooter(size, length, readSchema)]).toEqual([size, []]);
  }
  expect(await withFooter(100, 88, footerBytes)).toBe(88);
});

test('a footer of more than 64 MiB is refused', async () => {
  const most = await withFooter(70 * MIB, 64 * MIB, footerBytes);
  expect(most).toBe(64 * MIB);
  const refused = withFooter(70 * MIB, 64 * MIB + 1, footerBytes);
  await expect(refused).rejects.toThrow(
    'the footer of the Parquet file has 67108865 bytes, at most 67108864',
  );
});
