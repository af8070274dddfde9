// SUMMARIZE returns the same as DuckDB's own over the same records, of a table and of a query, and is charged
// once.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServer, type TestServer } from '../../base/server.ts';
import { askServer } from './door.ts';
import { openPlain, type Plain, type Table } from './plain.ts';
import { fillServer } from './shelves.ts';

let server: TestServer;
let plain: Plain;
beforeAll(async () => {
  plain = await openPlain();
  server = await startServer({ seams: { watch: false } });
  await fillServer(server);
});
afterAll(async () => {
  await server.close();
  await plain[Symbol.asyncDispose]();
});

type Row = Readonly<Record<string, unknown>>;

const rowsOf = ({ names, rows }: Table): readonly Row[] =>
  rows.map((row) => Object.fromEntries(row.map((value, at) => [names[at] ?? '', value])));

/** DuckDB's quartiles are approximate, and it gives days a mean. */
const compared = (row: Row): Row => {
  const isNumber = /^(?:DOUBLE|BIGINT|HUGEINT)$/.test(String(row['column_type']));
  const near = (name: string): number | null =>
    !isNumber || row[name] === null ? null : Number(Number(row[name]).toPrecision(10));
  return {
    name: row['column_name'],
    type: row['column_type'],
    range: [row['min'], row['max']],
    figures: [near('avg'), near('std')],
    count: Number(row['count']),
    blank: Number(row['null_percentage']),
  };
};

const QUERIES = [
  'SUMMARIZE SELECT * EXCLUDE (extra) FROM COMPANIES',
  'summarize PRICES;',
  'SUMMARIZE QUOTES',
  "SUMMARIZE SELECT symbol, sum(volume) AS shares FROM PRICES WHERE symbol <> 'TM' GROUP BY symbol -- each",
  'SUMMARIZE WITH p AS (SELECT * RENAME (close AS last) FROM PRICES) SELECT last FROM p',
];
for (const sql of QUERIES) {
  test(sql, async () => {
    const { body, status, table } = await askServer(server, sql);

    expect(body.slice(0, status === 200 ? 0 : 900)).toBe('');
    const ours = rowsOf(table ?? { names: [], rows: [] });
    const theirs = rowsOf(await plain.ask(sql));
    expect(ours.map(compared)).toEqual(theirs.map(compared));
    expect(ours.length).toBeGreaterThan(0);
    expect(Object.keys(ours[0] ?? {})).toEqual(Object.keys(theirs[0] ?? {}));
  });
}

test('of no records, and of a missing dataset', async () => {
  const none = await askServer(server, "SUMMARIZE SELECT close FROM PRICES WHERE symbol = '-'");
  expect(rowsOf(none.table ?? { names: [], rows: [] })).toMatchObject([
    { column_name: 'close', min: null, count: 0, null_percentage: null },
  ]);
  const wrong = await askServer(server, 'SUMMARIZE SELECT nope FROM PRICES');
  expect([wrong.status, wrong.body]).toEqual([400, expect.stringContaining('line 1, column 18')]);
  const unknown = await askServer(server, 'SUMMARIZE NOTHING');
  expect([unknown.status, unknown.body]).toEqual([400, expect.stringContaining('NOTHING')]);
  const two = await askServer(server, 'SUMMARIZE PRICES) t, (SELECT 1');
  expect(two.status).toBe(400);
});
