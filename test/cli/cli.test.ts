// The command line as a person uses it: real servers with their signals, a real first start, and commands
// with and without a running server.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, test } from 'vitest';
import { type Ran, withModules } from './command.ts';
import { runHere } from './commandHere.ts';
import { startedBy } from '../base/program.ts';

const MAIN = startedBy('cli/main.ts');
let folder = '';
let csv = '';
const children: ChildProcess[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tapedeck-cli-'));
  csv = join(folder, 'prices.csv');
  await writeFile(csv, 'symbol,date,price\nA,2020-01-01,1\nB,2020-01-01,2\n,2020-01-01,3\n');
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

const settings = (data: string, more: Record<string, string> = {}): Record<string, string> => ({
  TAPEDECK_DATA: join(folder, data),
  TAPEDECK_PORT: '0',
  TAPEDECK_CHILDREN: '1',
  TAPEDECK_LOG: 'silent',
  ...more,
});

const run = (args: readonly string[], env: Record<string, string>): Promise<Ran> =>
  runHere(args, { env });

interface Served {
  readonly child: ChildProcess;
  readonly output: () => string;
  /** Resolves when the output matches. */
  until(pattern: RegExp): Promise<RegExpExecArray>;
  ended: Promise<number | null>;
}

function serve(env: Record<string, string>): Served {
  const child = spawn(process.execPath, [MAIN, 'serve'], {
    env: withModules(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let text = '';
  child.stdout.on('data', (piece: Buffer) => (text += piece.toString()));
  child.stderr.on('data', (piece: Buffer) => (text += piece.toString()));
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const until = async (pattern: RegExp): Promise<RegExpExecArray> => {
    for (;;) {
      const match = pattern.exec(text);
      if (match !== null) return match;
      if (child.exitCode !== null) throw new Error(`ended without ${pattern}:\n${text}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  return { child, output: () => text, until, ended };
}

test('a first start fills DEMO, stores tokens and prints three lines that work', async () => {
  const env = settings('first', { TAPEDECK_DEMO: 'on', TAPEDECK_DEMO_SYMBOLS: '0' });
  const server = serve(env);
  await server.until(/US_EMPLOYMENT[^\n]*'\n/);
  // Output that is not a terminal is a log: it names the file of the tokens and contains no token.
  assert.doesNotMatch(server.output(), /[ps]k_[0-9a-f]{32}/);
  const file = /tokens: in (\S+first-tokens),/.exec(server.output())?.[1] ?? '';
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  const [publishable = ''] =
    /^publishable (pk_[0-9a-f]{32})\nsecret sk_[0-9a-f]{32}\n$/
      .exec(await readFile(file, 'utf8'))
      ?.slice(1) ?? [];
  assert.notEqual(publishable, '');
  const urls = [...server.output().matchAll(/curl '([^']+)'/g)].map((match) =>
    (match[1] ?? '').replace('pk_…', publishable),
  );
  assert.equal(urls.length, 3);
  const [series, csvText, filtered] = await Promise.all(
    urls.map(async (url) => (await fetch(url)).text()),
  );
  assert.match(series ?? '', /^\[\{"id":"STOCKS".*"key":"MSFT".*"price":28.8\}.*\]$/);
  assert.match(csvText ?? '', /^date,open,high,low,close,adjclose,volume\n2008-09-19,/);
  assert.match(filtered ?? '', /^\[\{"month":"2015-12-01","nonfarm":143093\},/);
  await server.until(/DEMO.FLIGHTS: 2992108 records, 7892 duplicates skipped/);
  server.child.kill('SIGTERM');
  assert.equal(await server.ended, 0);

  const again = serve(env);
  await again.until(/listens on/);
  assert.doesNotMatch(again.output(), /token|curl/);
  const second = serve(env);
  assert.equal(await second.ended, 1);
  assert.match(second.output(), /another Tapedeck process holds the data folder/);
  again.child.kill('SIGINT');
  assert.equal(await again.ended, 0);
});

const INDEX = ['--key', 'symbol', '--date', 'date'] as const;

test('ingest without a server, then through one', async () => {
  const env = settings('ingest', { TAPEDECK_DEMO: 'off' });
  const none = await run(['ingest', csv, ...INDEX, '--dataset', 'P'], env);
  assert.equal(none.code, 1);
  assert.match(none.stderr, /workspace create NAME/);
  assert.equal((await run(['workspace', 'create', 'W'], env)).stdout, 'W\n');
  const plain = await run(['ingest', csv, ...INDEX, '--dataset', 'P'], env);
  assert.equal(plain.code, 0, plain.stderr);
  const lines = plain.stdout.split('\n').map((line) => line.slice(0, 49));
  assert.match(lines[0] ?? '', /^rejected line 4: /);
  assert.equal(lines[1], 'unique index: key symbol, date date, as declared');
  assert.equal(lines[2], 'properties: symbol string, date date, price numbe');
  assert.match(lines[3] ?? '', /^warning: 1 records were rejected/);
  assert.equal(lines[4], 'P: 3 records received, 2 stored, 0 replaced, 0 du');
  const json = await run(
    ['ingest', csv, ...INDEX, '--dataset', 'P', '--json', '--max-errors', '5'],
    env,
  );
  const job = JSON.parse(json.stdout) as Record<string, unknown>;
  assert.deepEqual([job['status'], job['ingested'], job['duplicate']], ['INGESTED', 0, 2]);
  assert.equal((await run(['workspace', 'list'], env)).stdout, 'W: P\nCORE: \n');

  const server = serve(env);
  await server.until(/listens on/);
  const through = await run(['ingest', csv, ...INDEX, '--dataset', 'Q', '--workspace', 'W'], env);
  assert.match(through.stdout, /^Q: 3 records received, 2 stored, .* 1 rejected$/m, through.stderr);
  const failed = await run(
    ['ingest', csv, ...INDEX, '--dataset', 'R', '--workspace', 'W', '--max-errors', '0'],
    env,
  );
  assert.equal(failed.code, 1);
  assert.match(failed.stdout, /R: 1 invalid records, 0 allowed/);
  assert.equal((await run(['workspace', 'create', 'X'], env)).stdout, 'X\n');
  server.child.kill('SIGTERM');
  await server.ended;
});

test('tokens are listed by their end, and shown in full only with --show', async () => {
  const secret = 'sk_0123456789abcdef';
  const env = settings('tokens', { TAPEDECK_DEMO: 'off', TAPEDECK_SECRET_TOKEN: secret });
  const listed = await run(['tokens'], env);
  const [publishable = '', own = '', ...testing] = listed.stdout.trimEnd().split('\n');
  assert.match(publishable, /^publishable {2}pk_[0-9a-f]{32} {2}\(id [0-9a-f]{16}\)$/);
  assert.match(own, /^secret {7}sk_…cdef {2}\(id [0-9a-f]{16}\)$/);
  assert.equal(testing.filter((line) => / T[ps]k_.*test environment/.test(line)).length, 2);
  assert.match((await run(['tokens', 'list', '--show'], env)).stdout, /sk_0123456789abcdef/);
  const result = await run(['tokens', 'create', '--kind', 'publishable', '--json'], env);
  assert.match((JSON.parse(result.stdout) as { token: string }).token, /^pk_/);
  assert.equal((await run(['tokens'], env)).stdout.split('\n').length, 6);
  for (const file of ['key', 'admin-token']) {
    assert.equal((await stat(join(folder, 'tokens', file))).mode & 0o777, 0o600);
  }
});

test('a request is one line of JSON, and no token reaches it', async () => {
  const secret = 'sk_0123456789abcdef';
  const more = { TAPEDECK_SECRET_TOKEN: secret, TAPEDECK_LOG: 'info', TAPEDECK_DEMO: 'off' };
  const server = serve(settings('logs', more));
  const base = (await server.until(/listens on (\S+)/))[1] ?? '';
  const answer = await fetch(`${base}/v1/data/NONE/X?token=${secret}&last=1`);
  await fetch(`${base}/v1/data/NONE/X`, { headers: { authorization: `Bearer ${secret}` } });
  await fetch(`${base}/v1/datasets/W`, { method: 'POST', body: `{"token":"${secret}"}` });
  await server.until(/"\/v1\/datasets\/W"/);
  server.child.kill('SIGTERM');
  await server.ended;
  // The first start shows the tokens once; the log never shows them.
  const lines = server
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'));
  assert.ok(lines.length >= 3 && !lines.some((line) => line.includes(secret)));
  const first = JSON.parse(lines[0] ?? '{}') as Record<string, unknown>;
  assert.deepEqual(
    [first['method'], first['path'], first['status'], first['requestId']],
    ['GET', '/v1/data/NONE/X', 404, answer.headers.get('x-request-id')],
  );
});

test('a wrong setting is an error that names the fix', async () => {
  const unknown = await run(['tokens'], settings('x', { TAPEDECK_PROT: '1' }));
  assert.equal(unknown.code, 1);
  assert.match(unknown.stderr, /TAPEDECK_PROT is not known; did you mean TAPEDECK_PORT\?/);
  const wrong = await run(['tokens'], settings('x', { TAPEDECK_PORT: 'http' }));
  assert.match(wrong.stderr, /TAPEDECK_PORT must be a whole number from 0 to 65535/);
  assert.match((await run(['--help'], settings('x'))).stdout, /serve[\s\S]+ingest[\s\S]+tokens/);
});

test('an operator changes accounts and verifies the ledger, with and without a server', async () => {
  const env = settings('operator', { TAPEDECK_DEMO: 'off' });
  const result = await run(['account', 'create', 'Blue Fund', '--tier', 'launch', '--json'], env);
  assert.equal(result.code, 0, result.stderr);
  const { accountId, tier } = JSON.parse(result.stdout) as Record<string, string>;
  assert.equal(tier, 'launch');
  const id = accountId ?? '';
  const server = serve(env);
  const base = (await server.until(/listens on (\S+)/))[1] ?? '';
  const set = ['account', 'set', id, '--circuit-breaker', '500', '--premium-messages', '7'];
  assert.equal((await run(set, env)).code, 0);
  const kind = ['tokens', 'create', '--account', id, '--kind', 'secret'];
  const token = JSON.parse(
    (await run([...kind, '--name', 'desk', '--json'], env)).stdout,
  ) as Record<string, string>;
  const metadata = await fetch(`${base}/v1/account/metadata?token=${token['token']}`);
  const seen = (await metadata.json()) as Record<string, unknown>;
  assert.deepEqual([seen['tierName'], seen['circuitBreaker']], ['launch', 500]);
  const named = await run(['tokens', 'list', '--account', id], env);
  assert.match(named.stdout, /^secret {7}sk_…[0-9a-f]{4} {2}\(id [0-9a-f]{16}, desk\)$/m);
  assert.ok(!named.stdout.includes(token['token'] ?? ''), named.stdout);
  const rotated = await run(['tokens', 'rotate', token['tokenId'] ?? '', '--account', id], env);
  assert.match(rotated.stdout, /^secret {7}sk_[0-9a-f]{32}/);
  const old = await fetch(`${base}/v1/account/metadata?token=${token['token']}`);
  assert.equal(await old.text(), 'The API key provided has been disabled');
  assert.equal((await run(['account', 'set', id, '--suspended', 'on'], env)).code, 0);
  server.child.kill('SIGTERM');
  await server.ended;
  const listed = await run(['account'], env);
  assert.match(listed.stdout, /launch +Blue Fund: 0 of 5000000 messages, suspended\n/);
  const audit = (await run(['audit', '--account', id], env)).stdout.trim().split('\n');
  const acts = [
    'create account',
    'change account',
    'create token',
    'rotate token',
    'change account',
  ];
  assert.deepEqual(
    audit.map((line) => acts.find((act) => line.includes(` ${act} `))),
    acts,
  );
  assert.ok(audit.every((line) => line.includes(' admin ')));
  const books = await run(['verify-ledger'], env);
  assert.equal(books.code, 0);
  assert.match(
    books.stdout,
    /^0 calls, 0 messages and 0 premium ones recomputed\neverything agrees\n$/,
  );
  const wrong = await run(['account', 'set', id, '--budget', 'lots'], env);
  assert.equal(wrong.code, 1);
  assert.match(wrong.stderr, /budget/);
});

test('a backup with and without a server is verified, restored and served', async () => {
  const env = settings('backed', { TAPEDECK_DEMO: 'off' });
  assert.equal((await run(['workspace', 'create', 'W'], env)).code, 0);
  assert.equal((await run(['ingest', csv, '--dataset', 'P'], env)).code, 0);
  const early = await run(['status'], env);
  assert.match(early.stdout, /^NOTE: no backup was made\n {2}`tapedeck backup <folder>`/);
  assert.match(
    early.stdout,
    /\nstorage of W: 0\.0 MB, and 0\.0 MB of older versions; limit 4398047 MB\n/,
  );
  assert.equal(early.code, 0);
  const target = join(folder, 'backup');
  const server = serve(env);
  const base = (await server.until(/listens on (\S+)/))[1] ?? '';
  const first = await run(['backup', target], env);
  const summary =
    /^snapshot 4 in \S+: 4 files, \d\.\d MB; 4 new ones, \d\.\d MB, 1 of them linked\n$/;
  assert.match(first.stdout, summary, first.stderr);
  const token = /publishable +(\S+)/.exec((await run(['tokens', '--show'], env)).stdout)?.[1] ?? '';
  const answer = await (await fetch(`${base}/v1/data/W/P?token=${token}`)).text();
  server.child.kill('SIGTERM');
  await server.ended;
  const well = await run(['status'], env);
  assert.match(well.stdout, /^All is well\.\n[^]*\nbackup: 20\S+ in \S+backup\n/);
  const again = JSON.parse((await run(['backup', target, '--json'], env)).stdout) as object;
  assert.deepEqual(Object.keys(again).slice(0, 3), ['target', 'snapshot', 'files']);
  const restored = join(folder, 'restored');
  const result = await run(['restore', target, restored], env);
  assert.match(
    result.stdout,
    /^snapshot 4 of \S+ in \S+: 4 files, [^]*Serve it with TAPEDECK_DATA=/,
  );
  assert.match(result.stdout, /\nIt is asleep: .* until `tapedeck wake`\.\n/);
  const over = await run(['restore', target, join(folder, 'backed')], env);
  assert.deepEqual([over.code, /is not empty/.test(over.stderr)], [1, true]);
  const copy = settings('restored', { TAPEDECK_DEMO: 'off' });
  assert.match((await run(['wake'], copy)).stdout, /restored is awake: what is due begins/);
  assert.match((await run(['wake'], copy)).stdout, /restored was not asleep\n$/);
  const nowhere = await run(['wake'], settings('nowhere'));
  assert.deepEqual([nowhere.code, /there is no data folder/.test(nowhere.stderr)], [1, true]);
  const second = serve(copy);
  const there = (await second.until(/listens on (\S+)/))[1] ?? '';
  assert.equal(await (await fetch(`${there}/v1/data/W/P?token=${token}`)).text(), answer);
  second.child.kill('SIGTERM');
  await second.ended;
  const lake = (await readdir(join(target, 'lake'), { recursive: true })).find((name) =>
    name.endsWith('.parquet'),
  );
  await rm(join(target, 'lake', lake ?? ''));
  const bad = await run(['backup', 'verify', target], env);
  assert.deepEqual([bad.code, bad.stdout.includes(`lake/${lake} is missing`)], [1, true]);
});
