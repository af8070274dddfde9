// Hints that loads print, followed literally: the parameters and the options are read from the sentence
// itself, added to a second load of the same file over HTTP and by a command, and the records are compared.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, test } from 'vitest';
import { writeServerFile } from '../../../cli/connect/folderAccess.ts';
import { load, loaded, read, send } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';
import type { Ran } from '../../cli/command.ts';
import { commandEnv, runHere } from '../../cli/commandHere.ts';
import { commandsIn, hintsIn, requestIn } from './followHints.ts';
import { PRINTED_HINTS, type PrintedHint } from './printedHints.ts';

let server: TestServer;
let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tapedeck-hints-'));
  server = await startServer({ settings: { TAPEDECK_SOURCE_FOLDER: folder } });
  await writeServerFile(server.folder, { base: server.base });
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

const run = (...words: readonly string[]): Promise<Ran> =>
  runHere(words, {
    env: commandEnv(server),
    cwd: folder,
  });

const records = async (dataset: string): Promise<readonly string[]> => {
  const text = await read(server, `/data/WS/${dataset}?limit=100&format=csv`);
  const [header = '', ...rows] = text.trimEnd().split('\n');
  return [header, ...rows.sort()];
};

/** The refusal, or the notes, of a load. */
async function loadMessages(
  dataset: string,
  body: PrintedHint['body'],
  query: PrintedHint['query'],
): Promise<string> {
  const answer = await load(server, dataset, body, query);
  const { message, notes = [] } = (await answer.json()) as {
    readonly message: string;
    readonly notes?: readonly string[];
  };
  return [message, ...notes].join('\n');
}

let datasetCount = 0;
async function fresh({ before = [] }: PrintedHint): Promise<string> {
  const dataset = `H${(datasetCount += 1)}`;
  for (const body of before) await loaded(server, dataset, body);
  return dataset;
}

for (const hint of PRINTED_HINTS) {
  test(`followed: ${hint.name}`, async () => {
    const { body, options = [], printed, query, stored } = hint;
    const message = await loadMessages(await fresh(hint), body, query);
    assert.ok(message.includes(printed), message);
    const parsedHints = hintsIn(printed);
    assert.equal(parsedHints.length, stored.length, JSON.stringify(parsedHints));
    for (const [at, one] of parsedHints.entries()) {
      const expected = [stored[at]?.[0], ...(stored[at]?.slice(1).toSorted() ?? [])];
      const dataset = await fresh(hint);
      await loaded(server, dataset, body, { ...query, ...one.query });
      assert.deepEqual(await records(dataset), expected, one.printed);
      const other = await fresh(hint);
      await writeFile(join(folder, 'file'), body);
      const place = ['file', '--dataset', other, '--workspace', 'WS'];
      const ran = await run('ingest', ...place, ...options, ...one.options);
      assert.equal(ran.code, 0, ran.stdout + ran.stderr);
      assert.deepEqual(await records(other), expected, one.options.join(' '));
    }
  });
}

test('the command of a conflict declares the index, and the latest records stay', async () => {
  await loaded(server, 'CONFLICT', 'sym bol,my day,v\nA,2024-01-02,1\nB,2024-01-02,2\n');
  const later = 'sym bol,my day,v\nA,2024-01-02,5\nC,2024-01-03,3\n';
  const note = await loadMessages('CONFLICT', later, undefined);
  const [command = []] = commandsIn(note);
  assert.equal((await records('CONFLICT')).length, 5, note);
  const ran = await run(...command);
  assert.equal(ran.code, 0, `${command.join(' ')}: ${ran.stderr}`);
  assert.match(ran.stdout, /unique index/);
});

test('columns that are left out are stored after the request of the note', async () => {
  await loaded(server, 'LEFT', 'symbol,date,v\nA,2024-01-02,1\n', { key: 'symbol', date: 'date' });
  const wider = 'symbol,date,v,w\nA,2024-01-02,1,5\n';
  const note = await loadMessages('LEFT', wider, undefined);
  const { body, method, path } = requestIn(note);
  assert.equal((await send(server, method, path, body)).status, 200, note);
  await loaded(server, 'LEFT', wider);
  assert.deepEqual(await records('LEFT'), ['symbol,date,v,w', 'A,2024-01-02,1,5']);
});

test('the log of the job lists the rejected records', async () => {
  const answer = await load(server, 'REJECTS', 'a,b\n1,2\n3\n4,5\n');
  const { jobUrl, rejects, warnings } = (await answer.json()) as {
    readonly jobUrl: string;
    readonly rejects: readonly { readonly line: number; readonly error: string }[];
    readonly warnings: readonly string[];
  };
  const [, log = ''] =
    /the answer, and the ([a-z-]+) of the job, list them/.exec(warnings[0] ?? '') ?? [];
  assert.equal(rejects.length, 1);
  const { status, text } = await send(server, 'GET', `${jobUrl.slice('/v1'.length)}/${log}`);
  assert.equal(status, 200, text);
  assert.ok(text.includes(rejects[0]?.error ?? ''), text);
});

test('the refusal of a push names the parameter that it takes', async () => {
  const record = [{ symbol: 'A', date: '01/02/2024', v: 1 }];
  const refused = await send(server, 'POST', '/record/WS/PUSHED', record);
  assert.equal(refused.status, 400, refused.text);
  for (const [at, day] of ['2024-01-02', '2024-02-01'].entries()) {
    const hint = hintsIn(refused.text)[at];
    const query = new URLSearchParams(hint?.query);
    const stored = await send(server, 'POST', `/record/WS/PUSHED${at}?${query}`, record);
    assert.equal(stored.status, 200, stored.text);
    assert.deepEqual(await records(`PUSHED${at}`), ['symbol,date,v', `A,${day},1`]);
  }
});

test('an index over repeats names the members that decide which one stays', async () => {
  await loaded(server, 'EDIT', 'symbol,date,v\nA,2024-01-02,1\nA,2024-01-02,2\n');
  const wish = { columnMapping: { key: 'symbol', date: 'date' }, uniqueIndex: true };
  const { text } = await send(server, 'PATCH', '/datasets/WS/EDIT', wish);
  const hints = hintsIn(text);
  assert.equal(hints.length, 2, text);
  for (const [at, value] of ['1', '2'].entries()) {
    const rows = `symbol,date,v\nA,2024-01-02,1\nA,2024-01-02,2\n`;
    await loaded(server, `EDIT${at}`, rows);
    const body = { ...wish, ...hints[at]?.query };
    assert.equal((await send(server, 'PATCH', `/datasets/WS/EDIT${at}`, body)).status, 200);
    assert.deepEqual(await records(`EDIT${at}`), ['symbol,date,v', `A,2024-01-02,${value}`]);
    await loaded(server, `CEDIT${at}`, rows);
    const place = ['dataset', 'index', `CEDIT${at}`, '--workspace', 'WS'];
    const ran = await run(
      ...place,
      '--key',
      'symbol',
      '--date',
      'date',
      ...(hints[at]?.options ?? []),
    );
    assert.equal(ran.code, 0, ran.stderr);
    assert.deepEqual(await records(`CEDIT${at}`), ['symbol,date,v', `A,2024-01-02,${value}`]);
  }
});

test('the command of a schedule without an index declares one', async () => {
  await writeFile(join(folder, 'feed.csv'), 'symbol,date,v\nA,2024-01-02,1\n');
  const added = await run('source', 'add', 'feed.csv', '--name', 'feed', '--workspace', 'WS');
  assert.equal(added.code, 0, added.stderr);
  const schedule = [
    'schedule',
    'add',
    'feed',
    '--dataset',
    'FED',
    '--every',
    'day',
    '--workspace',
    'WS',
  ];
  const ran = await run(...schedule);
  assert.equal(ran.code, 0, ran.stderr);
  const [command = []] = commandsIn(ran.stderr);
  assert.match(ran.stderr, /after its first run, run: tapedeck dataset index/);
  const first = await run('schedule', 'run', 'FED', '--workspace', 'WS');
  assert.equal(first.code, 0, first.stderr);
  const declared = await run(...command);
  assert.equal(declared.code, 0, `${command.join(' ')}: ${declared.stderr}`);
  await writeFile(join(folder, 'feed.csv'), 'symbol,date,v\nA,2024-01-02,7\n');
  assert.equal((await run('schedule', 'run', 'FED', '--workspace', 'WS')).code, 0);
  assert.deepEqual(await records('FED'), ['symbol,date,v', 'A,2024-01-02,7']);
});
