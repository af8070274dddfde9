// Cases of views beyond transcripts: answers that a caller has already.
import assert from 'node:assert/strict';
import { test } from '../../base/fixtures.ts';

test('an answer over nested views changes with an inner view', async ({ server }) => {
  const post = async (path: string, body: string): Promise<void> => {
    const headers = { authorization: `Bearer ${server.secret}` };
    const answer = await fetch(`${server.base}/v1${path}`, { method: 'POST', headers, body });
    assert.equal(answer.status, 200, await answer.text());
  };
  const view = (name: string, query: string): Promise<void> =>
    post('/views/WS', JSON.stringify({ view: { name, query } }));
  await post('/data/WS/P?wait=true&key=s&date=d', 's,d,v\nA,2024-01-01,1\nA,2024-02-01,2\n');
  await view('INNER', 'SELECT v FROM P');
  await view('OUTER', 'SELECT * FROM `INNER`');
  const url = `${server.base}/v1/sql-query/WS?token=${server.publishable}`;
  const ask = (tag: string): Promise<Response> =>
    fetch(`${url}&sqlQuery=SELECT+sum(v)+AS+t+FROM+%60OUTER%60`, {
      headers: { 'if-none-match': tag },
    });
  const first = await ask('""');
  assert.equal(await first.text(), '[{"t":3}]');
  const tag = first.headers.get('etag') ?? '';
  assert.equal((await ask(tag)).status, 304);
  await view('INNER', 'SELECT v * 10 AS v FROM P');
  const second = await ask(tag);
  assert.equal(second.status, 200);
  assert.equal(await second.text(), '[{"t":30}]');
});
