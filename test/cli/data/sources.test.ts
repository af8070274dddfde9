// `source`, `credential` and `schedule` as a person uses them, with and without a server.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, test } from 'vitest';
import { startHttp } from '../../base/servers/http.ts';
import { writeServerFile } from '../../../cli/connect/folderAccess.ts';
import { startServer, type TestServer } from '../../base/server.ts';
import type { Ran } from '../command.ts';
import { runHere } from '../commandHere.ts';

const CSV = 'symbol,date,price\nA,2024-02-01,1.5\nB,2024-02-01,\nC,2024-02-01,soon\n';
const SQL = 'SELECT symbol, date, price FROM PRICES ORDER BY symbol';
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tapedeck-sources-'));
  await writeFile(join(folder, 'prices.csv'), CSV);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Commands on a data folder of their own. */
function place(name: string) {
  const env = {
    TAPEDECK_DATA: join(folder, name),
    TAPEDECK_PORT: '0',
    TAPEDECK_LOG: 'silent',
    TAPEDECK_DEMO: 'off',
    TAPEDECK_ALLOW_PRIVATE_ADDRESSES: 'on',
    TAPEDECK_SOURCE_FOLDER: folder,
  };
  const run = (args: readonly string[], input = ''): Promise<Ran> => runHere(args, { env, input });
  /** Runs a command that must succeed; returns its output. */
  const readOutput = async (...args: readonly string[]): Promise<string> => {
    const ran = await run(args);
    assert.equal(ran.code, 0, `${args.join(' ')}: ${ran.stderr}`);
    return ran.stdout;
  };
  /** Runs a command that must fail; returns its error output. */
  const refuses = async (...args: readonly string[]): Promise<string> => {
    const ran = await run(args);
    assert.deepEqual([ran.code, ran.stdout], [1, ''], args.join(' '));
    return ran.stderr;
  };
  const serve = async (): Promise<TestServer> => {
    const server = await startServer({ folder: env.TAPEDECK_DATA, settings: env });
    await writeServerFile(server.folder, { base: server.base });
    return server;
  };
  return { run, readOutput, refuses, serve };
}

const linesOf = (jsonLines: string): readonly Readonly<Record<string, unknown>>[] =>
  jsonLines
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);

test('from a URL to a scheduled dataset beside a server', async () => {
  await using http = await startHttp((_request, response) => void response.end(CSV));
  const { readOutput, refuses, serve } = place('served');
  await readOutput('workspace', 'create', 'W');
  await using _server = await serve();
  const url = `http://127.0.0.1:${http.port}/prices.csv`;
  assert.match(await readOutput('source', 'add', url, '--name', 'prices'), /^DATA_SOURCE_\w+\n$/);
  const sample = await readOutput('source', 'sample', 'prices');
  assert.match(sample, /^ symbol │ date +│ price\n[─┼]+\n A +│ 2024-02-01 │ 1\.5\n/);
  const zone = ['--time-zone', 'europe/berlin'];
  const add = ['schedule', 'add', 'prices', '--dataset', 'PRICES', '--every', 'day'];
  const scheduleId = await readOutput(...add, ...zone);
  assert.match(scheduleId, /^INGESTION_SCHEDULE_\w+\n$/);
  let history = '';
  while (!/INGESTED/.test(history)) history = await readOutput('schedule', 'history', 'PRICES');
  assert.match(history, /^ due +│ dataset │ attempt │ outcome +│ records │ invalid │ reason\n/);
  assert.match(history, /│ PRICES +│ +1 │ INGESTED │ +3 │ +0 │/);
  assert.match(
    await readOutput('sql', SQL),
    / symbol │ date +│ price\n[─┼]+\n A +│ 2024-02-01 │ 1\.5\n/,
  );

  const [listed] = linesOf(await readOutput('schedule', 'list', '--json'));
  const { cron, nextRuns, state, timeZone } = listed ?? {};
  assert.deepEqual([cron, state, timeZone], ['0 0 * * *', 'ENABLED', 'Europe/Berlin']);
  assert.equal((nextRuns as readonly number[]).length, 5);
  const midnights = / Europe\/Berlin │ ENABLED │ [^│]+│ (?:\d{4}-\d\d-\d\d 00:00(?:, )?){5} │/;
  assert.match(await readOutput('schedule', 'list'), midnights);
  await readOutput('schedule', 'pause', 'PRICES');
  assert.match(await readOutput('schedule', 'list'), /^ name +│ dataset │ cron[^]*│ PAUSED/);
  await readOutput('schedule', 'resume', 'PRICES');
  assert.match(await readOutput('schedule', 'list'), midnights);
  const run = linesOf(await readOutput('schedule', 'run', 'PRICES', '--json')).at(-1);
  assert.deepEqual([run?.['status'], run?.['recordsIngested']], ['INGESTED', 0], 'nothing is new');
  const runs = linesOf(await readOutput('schedule', 'history', '--json'));
  assert.deepEqual(runs.map(({ status }) => status).slice(0, 1), ['INGESTED']);
  assert.match(await refuses('source', 'remove', 'prices'), /^tapedeck: .*schedule/);
  await readOutput('schedule', 'remove', 'PRICES');
  await readOutput('source', 'remove', 'prices');
  assert.equal(await readOutput('source', 'list'), 'none\n');
});

test('sources, credentials and their errors without a server', async () => {
  await using http = await startHttp((request, response) => {
    response.writeHead(request.headers['x-key'] === 'hush-1234' ? 200 : 401).end(CSV);
  });
  const { readOutput, refuses, run } = place('alone');
  assert.match(await refuses('source', 'list'), /there is no workspace: tapedeck workspace create/);
  await readOutput('workspace', 'create', 'W');
  assert.equal(await readOutput('source', 'list'), 'none\n');
  assert.equal(await readOutput('source', 'list', '--json'), '');
  const [added] = linesOf(
    await readOutput('source', 'add', 'prices.csv', '--name', 'file', '--json'),
  );
  assert.match(String(added?.['dataSourceId']), /^DATA_SOURCE_/);
  assert.match(
    await readOutput('source', 'list'),
    /^ name │ type │ dataSourceId\n[─┼]+\n file │ FILE │ DATA/,
  );
  assert.match(
    await readOutput('source', 'schema', 'file'),
    / symbol +│ string │ key\n date +│ date +│ date\n/,
  );

  const credential = { type: 'HTTP', name: 'desk', headers: { 'x-key': 'hush-1234' } };
  const result = await run(['credential', 'add'], JSON.stringify(credential));
  assert.match(result.stdout, /^CREDENTIAL_\w+\n$/, result.stderr);
  const listing = await readOutput('credential', 'list', '--json');
  assert.equal(linesOf(listing)[0]?.['name'], 'desk');
  assert.ok(!listing.includes('hush'), 'a secret is never shown');
  const url = `http://127.0.0.1:${http.port}/a.csv`;
  await readOutput('source', 'add', url, '--name', 'keyed', '--credential', 'desk');
  assert.match(await readOutput('source', 'sample', 'keyed'), / A +│ 2024-02-01 │ 1\.5\n/);
  await readOutput('source', 'add', url, '--name', 'plain');

  const broken = await run(['source', 'add', '-'], '{"type":');
  assert.deepEqual([broken.code, broken.stdout], [1, '']);
  assert.match(broken.stderr, /the definition must be a JSON object/);
  assert.match(await refuses('source', 'add', url, '--header', 'x'), /--header must be written as/);
  assert.match(
    await refuses('source', 'add', url, '--credential', 'no'),
    /no credential of the name no/,
  );
  assert.match(
    await refuses('source', 'sample', 'gone'),
    /there is no data source of the name gone/,
  );
  assert.match(await refuses('source', 'sample', 'plain'), /^tapedeck: .*refused the credential/);
  assert.match(await refuses('schedule', 'run', 'gone'), /there is no schedule of the name gone/);
  const wrong = ['schedule', 'add', 'file', '--dataset', 'P'];
  assert.match(await refuses(...wrong, '--every', 'year'), /Allowed choices are minute, hour, day/);
  assert.match(await refuses(...wrong, '--cron', '* *'), /cron/);
  assert.match(await refuses(...wrong, '--start', 'soon'), /startTime must be/);
});
