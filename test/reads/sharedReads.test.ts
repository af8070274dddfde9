// A value that several callers wait for does not depend on the first of them.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { readSecurities } from '../../reads/market/reference/securityDirectory.ts';
import type { ReadRequest } from '../../reads/request/readRequest.ts';
import { backgroundRequest, ownerCaller } from '../../reads/rights/backgroundRequest.ts';
import { startServer } from '../base/server.ts';

test('the securities are read for all that wait when the first caller disconnects', async () => {
  await using server = await startServer();
  const url = `${server.base}/v1/data/CORE/SYMBOLS?wait=true&key=symbol&token=${server.secret}`;
  await fetch(url, { method: 'POST', body: 'symbol,name\nAAA,One\n' });
  const { services } = server.tapedeck;
  const accountId = services.lake.directory.workspace('CORE')?.accountId ?? '';
  const account = services.accounts.account(accountId);
  assert.ok(account);
  const staying = backgroundRequest(ownerCaller(account, accountId));
  const leaving: ReadRequest = { ...staying, departure: () => AbortSignal.abort() };
  const [, read] = await Promise.allSettled([
    readSecurities(leaving, services),
    readSecurities(staying, services),
  ]);
  assert.equal(read?.status, 'fulfilled');
  assert.deepEqual(
    read.value.map(({ symbol }) => symbol),
    ['AAA'],
  );
});
