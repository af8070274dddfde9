// The tables that a plan reads are those that another parser finds in the text: a table missing in a plan
// would be read without a right, and without a price.
import assert from 'node:assert/strict';
import { afterAll, beforeAll, test } from 'vitest';
import { note } from '../../base/notes.ts';
import { seedsOf } from '../../base/seeds.ts';
import { startServer, type TestServer } from '../../base/server.ts';
import { compareOpinions, EXPLAINED, randomOpinions, writtenTexts } from './opinions.ts';
import { differenceOf, planTables, secondOpinion } from './secondOpinion.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ seams: { watch: false } });
});
afterAll(() => server.close());

const formatFailures = (failures: readonly string[]): string =>
  `\n${failures.length} failures\n${failures.slice(0, 5).join('\n\n')}`;

/** About 930; on a busy machine some texts pass the deadline of the parser. */
const COMPARED_LEAST = 850;

test('suites and attacks name the tables of their plans', async (t) => {
  const { failures, ...summary } = await compareOpinions(server, writtenTexts());
  note(t, JSON.stringify(summary));
  assert.ok(failures.length === 0, formatFailures(failures));
  assert.ok(summary.compared >= COMPARED_LEAST, JSON.stringify(summary));
  const shownByText = Object.keys(summary.explained);
  for (const { why } of EXPLAINED) assert.ok(shownByText.includes(why), `no text shows: ${why}`);
});

/** Full count: 20,000 texts, by `npm run soak sql-opinions`. */
const TEXTS = 80;

test('random SELECTs and hostile texts name the tables of their plans', async (t) => {
  for (const seed of seedsOf(t)) {
    const { failures, ...summary } = await randomOpinions(server, TEXTS, seed);
    note(t, JSON.stringify(summary));
    assert.ok(failures.length === 0, formatFailures(failures));
    assert.ok(summary.compared > TEXTS / 10, JSON.stringify(summary));
  }
});

const OPINIONS: readonly (readonly [sql: string, names: readonly string[]])[] = [
  ['SELECT 1', []],
  ['SELECT * FROM PRICES p, WS.`Trades`', ['prices', 'ws.trades']],
  ['SELECT * FROM A JOIN (B JOIN C ON true) ON true', ['a', 'b', 'c']],
  [
    'SELECT (SELECT max(x) FROM A) FROM (SELECT * FROM B) b WHERE x IN (SELECT y FROM C)',
    ['a', 'b', 'c'],
  ],
  ['SELECT 1 FROM A UNION ALL SELECT 2 FROM B', ['a', 'b']],
  // A common table hides a dataset of its name, but not before itself nor outside of its query.
  ['WITH t AS (SELECT * FROM A) SELECT * FROM t', ['a']],
  ['WITH t AS (SELECT * FROM t) SELECT * FROM t', ['t']],
  ['WITH t AS (SELECT 1 AS one) SELECT * FROM WS.t', ['ws.t']],
  ['SELECT * FROM (WITH t AS (SELECT 1 AS one) SELECT * FROM t) x, t', ['t']],
];

test('the second opinion finds every table, and no common one', () => {
  for (const [sql, names] of OPINIONS) {
    assert.deepEqual([...(secondOpinion(sql) ?? ['unread'])].toSorted(), names, sql);
  }
  assert.equal(secondOpinion('SELECT FROM WHERE'), undefined);
});

test('a plan that misses a table is reported, and so is one with an extra table', () => {
  const theirs = secondOpinion('SELECT * FROM PRICES JOIN OTHER.SECRETS ON true') ?? new Set();
  const plan = (...names: readonly (readonly [string | undefined, string])[]) =>
    planTables({ tables: names.map(([workspace, name]) => ({ workspace, name, at: undefined })) });
  const whole = plan([undefined, 'Prices'], ['OTHER', 'SECRETS']);
  assert.equal(differenceOf(whole, theirs), undefined);
  const fewer = differenceOf(plan([undefined, 'PRICES']), theirs);
  assert.deepEqual(fewer, { missing: ['other.secrets'], added: [] });
  const other = differenceOf(plan([undefined, 'PRICES'], [undefined, 'SECRETS']), theirs);
  assert.deepEqual(other, { missing: ['other.secrets'], added: ['secrets'] });
  const more = differenceOf(new Set([...whole, 'trades']), theirs);
  assert.deepEqual(more, { missing: [], added: ['trades'] });
});

/** Our tables, its tables, and whether the difference of the two is explained. */
const DIFFERENCES: readonly (readonly [
  sql: string,
  ours: readonly string[],
  theirs: readonly string[],
  explained: boolean,
])[] = [
  ['SELECT * FROM A, S-- it', ['a', 's'], ['a', 's--'], true],
  ['SELECT * FROM A, S-- it', ['a'], ['a', 's--'], false],
  ['SELECT * FROM A, S', ['a'], ['a', 's'], false],
  ['SELECT * FROM A', ['a', 's'], ['a'], false],
  ['SELECT * FROM $s', ['a'], ['s'], false],
  ['SELECT * FROM $s, S', ['a'], ['s', 't'], false],
  ['SELECT $s FROM A, S', ['a'], ['a', 's'], false],
];

test('no table that a plan misses is explained away', () => {
  for (const [sql, ours, theirs, explained] of DIFFERENCES) {
    const difference = differenceOf(new Set(ours), new Set(theirs));
    assert.ok(difference !== undefined, sql);
    const isExplained = EXPLAINED.some((one) => one.explains(difference, new Set(ours), sql));
    assert.equal(isExplained, explained, `${sql}: ${JSON.stringify(difference)}`);
  }
});
