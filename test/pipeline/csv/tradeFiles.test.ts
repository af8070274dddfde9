// Files as vendors write them: the stored records, the rejects and the notes are those of the table, each
// hint of a refusal is followed, and no line of a file is silently lost.
import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, test } from 'vitest';
import { findRejects } from '../../../store/work/jobs.ts';
import { writeServerFile } from '../../../cli/connect/folderAccess.ts';
import { load, loaded, read } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';
import { runHere } from '../../cli/commandHere.ts';
import { type Hint, hintsIn } from '../hints/followHints.ts';
import { type Stored, TRADE_FILES, type TradeFile } from './tradeFiles.ts';

const FILES = globSync(join(import.meta.dirname, 'inputs', '*', '*'));

const ENVIRONMENT = { TAPEDECK_DEMO: 'off', TAPEDECK_LOG: 'silent', TAPEDECK_CHILDREN: '1' };

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
  await writeServerFile(server.folder, { base: server.base });
});
afterAll(() => server.close());

test('every file of the folder is in the table', () => {
  const names = new Set(TRADE_FILES.map(({ file }) => file));
  assert.deepEqual(FILES.map((path) => basename(path)).sort(), [...names].sort());
});

for (const [at, file] of TRADE_FILES.entries()) {
  test(`${file.file} ${JSON.stringify(file.query ?? {})}`, () => check(file, `F${at}`));
}

async function check(trade: TradeFile, dataset: string): Promise<void> {
  const { file, hints = [], notes = [], query = {}, refused, rejects, rows } = trade;
  const bytes = await readFile(FILES.find((path) => basename(path) === file) ?? '');
  if (refused === undefined) {
    assert.ok(rows !== undefined);
    await checkStored({ rows, rejects: rejects ?? [] }, bytes, dataset, query, notes);
    return;
  }
  const answer = await load(server, dataset, bytes, query);
  const text = await answer.text();
  assert.equal(answer.status, 400, text);
  const { message } = JSON.parse(text) as { readonly message: string };
  assert.match(message, refused);
  const printed = hintsIn(message);
  assert.ok(printed.length > 0, message);
  for (const [at, hint] of printed.entries()) {
    const name = `${dataset}_${at}`;
    const expectedHint = hints.find((one) => one.hint === shownOf(hint));
    const all = { ...query, ...hint.query };
    // The table does not list the result of this hint: the file must at least load.
    if (expectedHint === undefined) await loaded(server, name, bytes, all);
    else await checkStored(expectedHint, bytes, name, all, []);
    await checkCommand(file, name, hint);
  }
  const printedNames = printed.map(shownOf);
  for (const { hint } of hints) assert.ok(printedNames.includes(hint), `${hint}: ${message}`);
}

const shownOf = ({ query }: Hint): string => new URLSearchParams(query).toString();

/** The options of a hint store the same records as its parameters. */
async function checkCommand(file: string, stored: string, { options }: Hint): Promise<void> {
  const path = FILES.find((one) => basename(one) === file) ?? '';
  const place = ['--dataset', `${stored}_CLI`, '--workspace', 'WS'];
  const env = { ...ENVIRONMENT, TAPEDECK_DATA: server.folder };
  const ran = await runHere(['ingest', path, ...place, ...options], { env });
  assert.equal(ran.code, 0, `${options.join(' ')}: ${ran.stderr}${ran.stdout}`);
  const [byQuery, byOptions] = await Promise.all(
    [stored, `${stored}_CLI`].map((id) => read(server, `/data/WS/${id}?limit=1000&format=csv`)),
  );
  assert.equal(byOptions, byQuery, options.join(' '));
}

async function checkStored(
  { rejects = [], rows }: Stored,
  bytes: Buffer,
  dataset: string,
  query: Readonly<Record<string, string>>,
  notes: readonly RegExp[],
): Promise<void> {
  const answer = await load(server, dataset, bytes, query);
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  const response = JSON.parse(text) as {
    readonly jobId: string;
    readonly notes: readonly string[];
  };
  const csv = await read(server, `/data/WS/${dataset}?limit=1000&format=csv`);
  const [header = '', ...records] = recordsOf(csv);
  assert.deepEqual([header, ...records.sort()], [rows[0], ...rows.slice(1).toSorted()]);
  const storedRejects = await findRejects(server.tapedeck.services.database, response.jobId);
  assert.deepEqual(
    storedRejects.map(({ error, line }) => `${line}: ${error.replace('validation failed: ', '')}`),
    rejects,
  );
  for (const note of notes)
    assert.ok(
      response.notes.some((one) => note.test(one)),
      `${note}: ${text}`,
    );
}

/** Records of a CSV, whose cells may have line breaks. */
function recordsOf(csv: string): string[] {
  const records: string[] = [];
  for (const line of csv.trimEnd().split('\n')) {
    const last = records.at(-1);
    const isOpen = last !== undefined && last.split('"').length % 2 === 0;
    if (isOpen) records[records.length - 1] = `${last}\n${line}`;
    else records.push(line);
  }
  return records;
}
