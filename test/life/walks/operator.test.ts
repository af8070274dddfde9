// An operator of a server that others rely on: failures are visible in one place and the same everywhere, an
// exhausted budget is reported, and a restored backup is asleep.
import { appendFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startHttp } from '../../base/servers/http.ts';
import { until } from '../../api/streams/listening.ts';
import { Walk } from './walk.ts';

const CSV = 'symbol,date,close\nA,2024-01-02,1\nB,2024-01-02,2\n';

test('a failing source: log, metrics, status and history report the same reason', async () => {
  let isDown = false;
  await using http = await startHttp((_request, response) => {
    response.statusCode = isDown ? 403 : 200;
    response.end(isDown ? 'who are you' : CSV);
  });
  await using walk = await Walk.open();
  await walk.runCommand('workspace', 'create', 'W');
  await walk.serve();
  expect(await walk.runCommand('status')).toContain('backup: never');
  await walk.runCommand('source', 'add', `http://127.0.0.1:${http.port}/p.csv`, '--name', 'feed');
  await walk.runCommand(
    'schedule',
    'add',
    'feed',
    '--dataset',
    'P',
    '--key',
    'symbol',
    '--date',
    'date',
  );
  await until(async () => (await walk.runCommand('schedule', 'history', 'P')).includes('INGESTED'));
  isDown = true;
  await walk.run(['schedule', 'run', 'P']);
  await until(async () => (await walk.runCommand('schedule', 'history', 'P')).includes('ERROR'));

  const runs = (await walk.runCommand('schedule', 'history', 'P', '--json')).trim().split('\n');
  const reasons = runs.map((line) => (JSON.parse(line) as { readonly error: string | null }).error);
  const reason = reasons.findLast((one) => one !== null) ?? '';
  expect(reason).toMatch(/403/);
  const status = await walk.run(['status']);
  expect([status.code, status.stdout]).toEqual([1, expect.stringContaining('WRONG: ')]);
  expect(status.stdout.split('\n')[0]).toContain('P');
  expect(status.stdout).toContain(reason);
  await until(() => walk.log().includes('a scheduled run failed'));
  const failureLines = walk
    .log()
    .split('\n')
    .filter((line) => line.includes('a scheduled run failed'));
  expect(failureLines.map((line) => (JSON.parse(line) as { reason: string }).reason)).toEqual([
    reason,
  ]);
  const metrics = (await walk.ask('/metrics')).text;
  expect(metrics).toMatch(/^tapedeck_schedules_failing 1$/m);
  expect(metrics).toMatch(/^tapedeck_jobs_ended\{status="ERROR"\} 1$/m);
  isDown = false;
  await walk.runCommand('schedule', 'run', 'P');
  expect(await walk.runCommand('status')).not.toContain('WRONG');
  // A script of hers exceeds the rate limit: commands wait for the reported time.
  const many = await Promise.all(
    Array.from({ length: 60 }, () => walk.runCommand('dataset', '--json')),
  );
  expect(many.every((one) => one === many[0])).toBe(true);
});

test('a customer: account, tokens, a budget, and the refusal at its end', async () => {
  await using walk = await Walk.open();
  await walk.fill(CSV);
  await walk.serve();
  const accountText = await walk.runCommand(
    'account',
    'create',
    'Blue Fund',
    '--tier',
    'launch',
    '--json',
  );
  const { accountId } = JSON.parse(accountText) as { readonly accountId: string };
  const token = await walk.runCommand(
    'tokens',
    'create',
    '--account',
    accountId,
    '--name',
    'desk',
    '--grant',
    'W.P=read',
    '--json',
  );
  const { token: text, tokenId } = JSON.parse(token) as { token: string; tokenId: string };
  expect(await walk.runCommand('tokens', 'list', '--account', accountId)).toContain('desk');
  const [listed = ''] = (await walk.runCommand('account', 'list', '--json')).split('\n');
  const own = JSON.parse(listed) as { readonly accountId: string };
  const secret = await walk.token('secret');
  const all = await walk.ask(`/v1/data/W/P?limit=9&token=${secret}`);
  expect(JSON.parse(all.text)).toHaveLength(2);
  expect(all.headers.get('svccloud-messages-used')).toBe('2');
  await walk.runCommand('account', 'set', own.accountId, '--budget', '3');
  const over = await walk.ask(`/v1/data/W/P?limit=9&token=${secret}`);
  expect([over.status, over.text]).toEqual([402, expect.stringMatching(/budget/)]);
  expect(await walk.runCommand('sql', 'SELECT * FROM P')).toMatch(
    /\n2 rows · \S+ s · 0 messages\n$/,
  );
  await walk.runCommand('account', 'set', own.accountId, '--budget', 'none');
  expect((await walk.ask(`/v1/data/W/P?limit=9&token=${secret}`)).status).toBe(200);
  const shared = ['dataset', 'share', 'P', accountId, '--weight', '7', '--tier', 'launch'];
  expect(await walk.runCommand(...shared)).toMatch(new RegExp(`${accountId} │ +7 │ launch │ NULL`));
  const desk = await walk.ask(`/v1/data/W/P?limit=9&token=${text}`);
  expect(desk.headers.get('svccloud-messages-used')).toBe('14');
  expect(await walk.runCommand('dataset', 'share', 'P', '--json')).toContain(`"weight":7`);
  expect(await walk.runCommand('dataset', 'share', 'P', accountId, '--stop')).toBe('none\n');
  expect(await walk.refuses('dataset', 'share', 'P', accountId, '--stop')).toContain('not shared');
  expect(await walk.refuses('dataset', 'share', 'P', 'nobody')).toContain('no such account');
  expect((await walk.ask(`/v1/data/W/P?limit=9&token=${text}`)).status).toBe(404);
  await walk.runCommand('tokens', 'disable', tokenId, '--account', accountId);
  const disabled = await walk.ask(`/v1/account/metadata?token=${text}`);
  expect([disabled.status, disabled.text]).toEqual([403, 'The API key provided has been disabled']);
  expect(await walk.runCommand('verify-ledger')).toMatch(/agree|nothing|adds up|0 fault/i);
  expect(await walk.runCommand('audit', '--account', accountId)).toMatch(/token/);
  expect(await walk.runCommand('rotate-key')).toMatch(/^sealed under the new key: \d+ tokens/);
  expect((await walk.ask(`/v1/data/W/P?limit=9&token=${secret}`)).status).toBe(200);
});

test('a backup that is verified, damaged, restored asleep, and woken', async () => {
  await using walk = await Walk.open();
  await walk.fill(CSV);
  await walk.serve();
  await walk.runCommand('backup', 'make', walk.path('copy'));
  expect(await walk.runCommand('status')).toContain(`in ${walk.path('copy')}`);
  await walk.runCommand('backup', 'verify', walk.path('copy'));
  await walk.runCommand('restore', walk.path('copy'), walk.path('restored'));
  const files = await readdir(walk.path('copy'), { recursive: true });
  const parquet = files.find((name) => name.endsWith('.parquet')) ?? '';
  await appendFile(join(walk.path('copy'), parquet), 'x');
  expect(await walk.refuses('backup', 'verify', walk.path('copy'))).toContain('.parquet');
  expect(await walk.refuses('restore', walk.path('copy'), walk.path('again'))).toContain(
    '.parquet',
  );
  await walk.stop('SIGKILL');

  const startLog = await walk.serve({ TAPEDECK_DATA: walk.path('restored') });
  expect(startLog).toMatch(/asleep.*tapedeck wake/s);
  const there = { TAPEDECK_DATA: walk.path('restored') };
  const woken = await walk.run(['wake'], there);
  expect([woken.code, woken.stderr]).toEqual([0, '']);
  const sql = await walk.run(['sql', 'SELECT count(*) AS n FROM P', '--format', 'csv'], there);
  expect(sql.stdout).toBe('n\n2\n');
});
