// The preview of `core load` equals the records that are read back after the load: for generated files in
// the formats of vendors, in any order of files.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import fc from 'fast-check';
import { coreFolder, type CoreFolder } from './coreFolder.ts';

/** Files of one run; each is loaded twice, first as a preview. */
const RUNS = 12;

interface GeneratedFile {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly delimiter: string;
  readonly adjusted: boolean;
}

/** Headers of vendors. */
const HEADERS: readonly (readonly string[])[] = [
  ['Date', 'Open', 'High', 'Low', 'Close', 'Adj Close', 'Volume'],
  ['date', 'close', 'note', 'isSplitAdjusted'],
  ['Datum', 'Eröffn.', 'Hoch', 'Tief', 'Zuletzt', 'Vol.'],
  ['Date', 'Close', 'Volume', 'Dividends', 'Stock Splits'],
  ['timestamp', 'open', 'close', 'adjusted_close', 'volume', 'code'],
];

const price = fc.integer({ min: 100, max: 99_999 }).map((cents) => (cents / 100).toFixed(2));
const cellBelow = (name: string): fc.Arbitrary<string> => {
  if (/^vol/i.test(name)) return fc.integer({ min: 0, max: 1e9 }).map(String);
  if (name === 'note') return fc.constantFrom('x', '', 'a b', 'Ä', 'q"q');
  if (name === 'code') return fc.constantFrom('7', '7.5', 'x7', '');
  if (name === 'isSplitAdjusted') return fc.constantFrom('true', 'false', '');
  if (name === 'Dividends' || name === 'Stock Splits') return fc.constantFrom('0.0', '0.25', '2.0');
  return price;
};

const generated: fc.Arbitrary<GeneratedFile> = fc
  .record({
    header: fc.constantFrom(...HEADERS),
    count: fc.integer({ min: 1, max: 6 }),
    delimiter: fc.constantFrom(',', ';', '\t'),
    adjusted: fc.boolean(),
  })
  .chain(({ count, header, ...rest }) =>
    fc
      .array(fc.tuple(...header.slice(1).map(cellBelow)), { minLength: count, maxLength: count })
      .map((cells) => ({
        ...rest,
        header,
        rows: cells.map((row, at) => [`2024-01-${String(at + 10)}`, ...row]),
      })),
  );

const quoted = (cell: string, delimiter: string): string =>
  cell.includes('"') || cell.includes(delimiter) ? `"${cell.replaceAll('"', '""')}"` : cell;

const linesOf = ({ delimiter, header, rows }: GeneratedFile): readonly string[] =>
  [header, ...rows].map((row) => row.map((cell) => quoted(cell, delimiter)).join(delimiter));

const withoutNulls = (row: object): object =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));

/** Loads one file, and compares its preview with the stored records. */
async function checkFile(core: CoreFolder, file: GeneratedFile, symbol: string): Promise<void> {
  const name = await core.write(`${symbol}.csv`, ...linesOf(file));
  const adjusted = file.adjusted && !file.header.includes('isSplitAdjusted') ? ['--adjusted'] : [];
  const args = [name, '--as', 'HISTORICAL_PRICES', '--symbol', symbol, ...adjusted];
  const ran = await core.loaded(...args, '--json');
  const [preview = '{}'] = ran.stdout.split('\n');
  const { sample } = JSON.parse(preview) as { readonly sample: readonly object[] };
  assert.equal(sample.length, file.rows.length, ran.stdout);
  const path = `/data/CORE/HISTORICAL_PRICES/${symbol}?last=20&sort=asc`;
  const stored = (await core.get(path)) as readonly object[];
  assert.deepEqual(stored.map(withoutNulls), sample.map(withoutNulls));
  const closes = stored.map((row) => Reflect.get(row, 'close') as number);
  const at = file.header.findIndex((one) => /^(?:close|zuletzt)$/i.test(one));
  assert.deepEqual(
    closes,
    file.rows.map((row) => Number(row[at])),
  );
  if (adjusted.length === 0) return;
  assert.ok(stored.every((row) => Reflect.get(row, 'isSplitAdjusted') === true));
}

test('a preview equals the records that are read back', { timeout: 180_000 }, async () => {
  await using core = await coreFolder();
  let count = 0;
  await fc.assert(
    fc.asyncProperty(generated, async (file) => {
      count += 1;
      await checkFile(core, file, `LAW${String.fromCharCode(64 + count)}`);
    }),
    {
      seed: 20_260_131,
      numRuns: RUNS,
      endOnFailure: true,
    },
  );
});
