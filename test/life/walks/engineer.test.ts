// An engineer who evaluates the product: she kills it, repeats queries, checks costs, and reads the document.
import { expect, test } from 'vitest';
import { Walk } from './walk.ts';

type Row = Readonly<Record<string, unknown>>;

test('acknowledged records survive kill -9, and the ledger is consistent', async () => {
  await using walk = await Walk.open();
  await walk.fill('symbol,date,v\nA,2024-01-01,0\n');
  await walk.serve();
  const secret = await walk.token('secret');
  const headers = { authorization: `Bearer ${secret}` };
  let acknowledged = 0;
  let isKilled = false;
  const pushing = (async (): Promise<void> => {
    for (let day = 1; day <= 5_000 && !isKilled; day += 1) {
      const date = new Date(Date.UTC(2024, 0, 1 + day)).toISOString().slice(0, 10);
      const body = JSON.stringify([{ symbol: 'A', date, v: day }]);
      const answer = await walk
        .ask('/v1/record/W/P', { method: 'POST', headers, body })
        .catch(() => undefined);
      if (answer?.status !== 200) return;
      acknowledged = day;
    }
  })();
  await new Promise((resolve) => setTimeout(resolve, 700));
  isKilled = true;
  await walk.stop('SIGKILL');
  await pushing;
  expect(acknowledged).toBeGreaterThan(10);

  await walk.serve();
  const read = await walk.ask(`/v1/data/W/P/A?limit=10000&token=${secret}`);
  const rows = JSON.parse(read.text) as readonly Row[];
  expect(rows.length).toBeGreaterThanOrEqual(acknowledged + 1);
  expect(rows.length).toBeLessThanOrEqual(acknowledged + 2);
  const moment = read.headers.get('svccloud-as-of') ?? '';
  await walk.ask('/v1/record/W/P', {
    method: 'POST',
    headers,
    body: '{"symbol":"A","date":"2050-01-01","v":1}',
  });
  const again = await walk.ask(`/v1/data/W/P/A?limit=10000&asOf=${moment}&token=${secret}`);
  expect(again.text).toBe(read.text);
  const now = await walk.ask(`/v1/data/W/P/A?limit=10000&token=${secret}`);
  expect((JSON.parse(now.text) as readonly Row[]).length).toBe(rows.length + 1);
  await walk.runCommand('verify');
  await walk.runCommand('verify-ledger');
  const used = [read, again, now].map(({ headers: answerHeaders }) =>
    Number(answerHeaders.get('svccloud-messages-used')),
  );
  const [account] = (await walk.runCommand('account', 'list', '--json')).trim().split('\n');
  const { accountId } = JSON.parse(account ?? '') as { readonly accountId: string };
  const usage = JSON.parse(await walk.runCommand('account', 'usage', accountId)) as Row;
  expect(JSON.stringify(usage)).toContain(String(used.reduce((sum, one) => sum + one, 0)));
});

test('the interface describes itself, and refuses unknown parameters by name', async () => {
  await using walk = await Walk.open();
  await walk.fill('symbol,date,v\nA,2024-01-01,0\n');
  await walk.serve();
  const secret = await walk.token('secret');
  const document = JSON.parse((await walk.ask('/v1/openapi-doc')).text) as {
    openapi: string;
    paths: object;
  };
  expect([document.openapi, Object.keys(document.paths).length > 100]).toEqual(['3.1.0', true]);
  expect((await walk.ask('/healthz')).status).toBe(200);
  expect((await walk.ask('/readyz')).status).toBe(200);
  expect((await walk.ask('/metrics')).text).toMatch(/^nodejs_eventloop_lag_p99_seconds \d/m);
  const refused = async (path: string): Promise<readonly [number, string]> => {
    const { status, text } = await walk.ask(
      `${path}${path.includes('?') ? '&' : '?'}token=${secret}`,
    );
    return [status, text];
  };
  expect(await refused('/v1/data/W/P/A?lats=1')).toEqual([400, expect.stringContaining('lats')]);
  expect(await refused('/v1/data/W/P/A?last=many')).toEqual([400, expect.stringContaining('last')]);
  expect(await refused('/v1/data/W/P/A?from=2024-13-01')).toEqual([
    400,
    expect.stringContaining('from'),
  ]);
  const [status, problem] = [404, 'application/problem+json'];
  const missing = await walk.ask(`/v1/data/W/NONE/A?token=${secret}`, {
    headers: { accept: problem },
  });
  expect(missing.status).toBe(status);
  expect(JSON.parse(missing.text)).toMatchObject({
    status,
    detail: expect.stringContaining('NONE'),
  });
  const huge = await walk.ask(`/v1/sql-query/W?token=${secret}`, {
    method: 'POST',
    body: 'SELECT sum(a.v * b.v) FROM range(100000000) a, range(100000000) b',
  });
  expect(huge.status).toBe(400);
  // A second server on the same folder would be two writers.
  await expect(walk.serve()).rejects.toThrow(/another Tapedeck process holds the data folder/);
});
