// Attribution of computed answers: every source of their data is credited, and no other.
import assert from 'node:assert/strict';
import { expect } from 'vitest';
import { test } from '../base/fixtures.ts';
import type { TestServer } from '../base/server.ts';

const INPUTS = [
  ['HISTORICAL_PRICES', 'Days Ltd', 'symbol,date,close\nAAA,2024-02-27,10\nAAA,2024-02-28,11\n'],
  ['COMPANY', 'Companies: Köln', 'symbol,companyName\nAAA,Triple A\n'],
  ['DIVIDENDS', 'Days Ltd', 'symbol,refid,exDate,amount\nAAA,1,2024-02-28,0.5\n'],
] as const;

async function filled(server: TestServer): Promise<void> {
  const headers = { authorization: `Bearer ${server.secret}` };
  for (const [input, source, csv] of INPUTS) {
    const url = `${server.base}/v1/data/CORE/${input}?wait=true`;
    const load = await fetch(url, { method: 'POST', headers, body: csv });
    assert.equal(load.status, 200, await load.text());
    const body = JSON.stringify({ dataset: { source } });
    const change = await fetch(`${server.base}/v1/datasets/CORE/${input}`, {
      method: 'PATCH',
      headers,
      body,
    });
    assert.equal(change.status, 200, await change.text());
  }
}

const creditOf = async (server: TestServer, path: string): Promise<string | null> => {
  const separator = path.includes('?') ? '&' : '?';
  const answer = await fetch(`${server.base}/v1${path}${separator}token=${server.publishable}`);
  assert.equal(answer.status, 200, await answer.text());
  return answer.headers.get('svccloud-attribution');
};

test('each source of an answer is in its header once', async ({ server }) => {
  await filled(server);
  expect(await creditOf(server, '/stock/AAA/company')).toBe('Companies: K%C3%B6ln');
  for (const path of ['/stock/AAA/quote', '/stock/AAA/batch?types=company,previous']) {
    const credits = (await creditOf(server, path))?.split('; ') ?? [];
    expect(credits.toSorted(), path).toEqual(['Companies: K%C3%B6ln', 'Days Ltd']);
  }
});
