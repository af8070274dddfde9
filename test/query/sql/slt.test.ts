// A server answers each case of *.slt as in the file, and as DuckDB answers the same text.
// `UPDATE=1 npm test -- sql/slt` writes DuckDB's rows into the files: read what it changed.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { startServer, type TestServer } from '../../base/server.ts';
import { askServer, type SqlAnswer } from './door.ts';
import { difference, openPlain, type Plain, respelled, sorted, type Table } from './plain.ts';
import { fillServer } from './shelves.ts';
import { allSuites, type Case, fitsTypes, linesOf, type Suite } from './slt.ts';

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

const SUITES = allSuites();
const CASES_LEAST = 350;

test('the number of cases is complete, and none is repeated', () => {
  const texts = SUITES.flatMap(({ cases }) =>
    cases.map(({ parameters, sql }) => `${sql}${parameters}`),
  );
  assert.ok(texts.length >= CASES_LEAST, `${texts.length} cases`);
  assert.equal(new Set(texts).size, texts.length, 'a text is in two cases');
});

for (const suite of SUITES) {
  describe(suite.file, () => {
    if (process.env['UPDATE'] === '1') test('is rewritten', () => update(suite));
    else for (const one of suite.cases) test(titleOf(one), () => check(suite.file, one));
  });
}

const TITLE_MAX = 90;

function titleOf({ line, sql }: Case): string {
  const text = sql.replaceAll(/\s+/g, ' ');
  return `line ${line}: ${text.length > TITLE_MAX ? `${text.slice(0, TITLE_MAX - 1)}…` : text}`;
}

async function check(file: string, one: Case): Promise<void> {
  const fault = one.kind === 'error' ? await errorFault(one) : await queryFault(one);
  assert.ok(fault === undefined, `${file}:${one.line} ${fault}\n  ${one.sql}`);
}

async function errorFault({ expected, parameters, sql }: Case): Promise<string | undefined> {
  const { body, status } = await askServer(server, sql, parameters);
  if (status === 400 && new RegExp(expected[0] ?? '').test(body)) return undefined;
  return `expected 400 and ${expected[0]}, got ${status}: ${body.slice(0, 300)}`;
}

async function queryFault(one: Case): Promise<string | undefined> {
  const answer = await askServer(server, one.sql, one.parameters);
  if (answer.table === undefined) return describeAnswer(answer);
  const got = one.sorted ? sorted(answer.table) : answer.table;
  const lines = linesOf(got);
  const at = lines.findIndex((line, index) => line !== one.expected[index]);
  if (at >= 0) return `row ${at + 1} is "${lines[at]}", not "${one.expected[at]}" as in the file`;
  if (lines.length !== one.expected.length) {
    return `${lines.length} rows, not ${one.expected.length} as in the file`;
  }
  if (!fitsTypes(one, got)) return `the columns are not ${one.types}`;
  const differs = difference(got, await plainTable(one));
  return differs === undefined ? undefined : `otherwise than DuckDB: ${differs}`;
}

const describeAnswer = ({ body, status }: SqlAnswer): string =>
  `status ${status}: ${body.slice(0, 300)}`;

async function plainTable({ plain: text, sorted: loose, sql }: Case): Promise<Table> {
  const table = await plain.ask(text ?? respelled(sql));
  return loose ? sorted(table) : table;
}

/** The rows of every case as DuckDB has them; nothing where the file is right already. */
async function update({ cases, path, text }: Suite): Promise<void> {
  assert.notEqual(process.env['CI'], 'true', 'UPDATE=1 is refused where CI=true');
  const lines = text.split('\n');
  for (const one of cases.toReversed().filter(({ kind }) => kind === 'query')) {
    const rows = linesOf(await plainTable(one));
    const end = lines.indexOf('', one.line - 1);
    const block = lines.slice(one.line - 1, end < 0 ? undefined : end);
    const bar = block.indexOf('----');
    const head = bar < 0 ? block : block.slice(0, bar);
    lines.splice(one.line - 1, block.length, ...head, '----', ...rows);
  }
  writeFileSync(path, lines.join('\n'));
}
