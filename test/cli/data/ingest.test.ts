// `tapedeck ingest` from a file and from the standard input, with and without a running server.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, test } from 'vitest';
import { writeServerFile } from '../../../cli/connect/folderAccess.ts';
import { served, type TestServer } from '../../base/server.ts';
import type { Ran } from '../command.ts';
import { runHere } from '../commandHere.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tapedeck-ingest-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

const environment = () => ({
  TAPEDECK_DATA: join(folder, 'data'),
  TAPEDECK_DEMO: 'off',
  TAPEDECK_LOG: 'silent',
  TAPEDECK_CHILDREN: '1',
});

/** Runs `tapedeck ingest …` into workspace WS with this standard input. */
const ingest = (args: readonly string[], input = ''): Promise<Ran> =>
  runHere(['ingest', ...args, '--workspace', 'WS'], { env: environment(), cwd: folder, input });

const withServer = <T>(work: (server: TestServer) => Promise<T>): Promise<T> =>
  served(join(folder, 'data'), async (server) => {
    await writeServerFile(join(folder, 'data'), { base: server.base });
    return work(server);
  });

const BAD_LINES = 25;
const LINES = [
  'symbol,v',
  ...Array.from({ length: BAD_LINES }, (_, at) => `B${at},word${at}`),
  'G,7',
].join('\n');

test('rejected records are reported alike, with and without a running server', async () => {
  const path = join(folder, 'bad.csv');
  await writeFile(path, LINES);
  await withServer(async () => {
    const result = await ingest(['-', '--dataset', 'D', '--key', 'symbol'], 'symbol,v\nA,1\n');
    assert.equal(result.code, 0, result.stderr);
  });
  const beside = await withServer(() => ingest([path, '--dataset', 'D']));
  const alone = await ingest([path, '--dataset', 'D']);
  const linesOf = ({ stdout }: Ran): readonly string[] =>
    stdout.split('\n').filter((line) => line.startsWith('rejected'));
  for (const ran of [beside, alone]) {
    const lines = linesOf(ran);
    assert.equal(lines.length, 21, ran.stdout + ran.stderr);
    const first = `rejected line 2: validation failed: property 'v' should be integer, not "word0"`;
    assert.equal(lines[0], first);
    assert.match(
      lines[20] ?? '',
      /^rejected 5 more: GET \/v1\/jobs\/WS\/ingest\/[0-9a-f]{32}\/invalid-records-log has them$/,
    );
  }
  assert.deepEqual(linesOf(beside).slice(0, 20), linesOf(alone).slice(0, 20));
});

test('the standard input, JSON paths and options of reading print the same messages', async () => {
  const geo = '{"type":"FeatureCollection","features":[{"id":"a","n":1},{"id":"b","n":2}]}';
  const cases: readonly (readonly [string, readonly string[], RegExp])[] = [
    [geo, [], /pass jsonPath=\$\.features\[\*\] \(--json-path '\$\.features\[\*\]'\)/],
    [geo, ['--json-path', '$.features[*]'], /2 stored, 0 replaced, 0 duplicates, 0 rejected/],
    ['A;1\nB;2\n', ['--no-header'], /2 records received, 2 stored/],
    [
      'Title\nid,v\nA,1\nB,2\nTotal,3\n',
      [],
      /pass skipLines=1&skipLast=1 \(--skip-lines 1 --skip-last 1\)/,
    ],
    [
      'Title\nid,v\nA,1\nB,2\nTotal,3\n',
      ['--skip-lines', '1', '--skip-last', '1'],
      /2 records received, 2 stored/,
    ],
    ['<html><title>Log in</title></html>', [], /the body is a web page \("Log in"\)/],
    ['id,v\nA,1\nB,2\n', ['--header-lines', '99'], /must be a whole number, at most 20/],
  ];
  const all = async (round: string): Promise<void> => {
    for (const [at, [input, args, pattern]] of cases.entries()) {
      const { code, stderr, stdout } = await ingest(
        ['-', '--dataset', `${round}${at}`, ...args],
        input,
      );
      assert.match(stdout + stderr, pattern, `${round} ${at}`);
      assert.equal(code === 0, /stored/.test(pattern.source), `${round} ${at}: ${code}`);
    }
  };
  await all('ALONE');
  await withServer(() => all('BESIDE'));
});
