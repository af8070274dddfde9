// Records with more cells than the header has names.
import assert from 'node:assert/strict';
import { afterAll, beforeAll, test } from 'vitest';
import { load } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

const days = (count: number): string =>
  Array.from({ length: count }, (_, at) => `2024-01-0${at + 1},1,2,\n`).join('');

async function answerOf(id: string, body: string): Promise<readonly [number, string]> {
  const answer = await load(server, id, body);
  return [answer.status, await answer.text()];
}

test('empty cells without a name are left out, and a line with a value in them is rejected', async () => {
  const [status, text] = await answerOf('LAST', `date,a,b\n${days(9)}2024-01-20,5,6,7\n`);
  assert.equal(status, 200, text);
  const { notes, rejects, stored } = JSON.parse(text) as {
    readonly stored: number;
    readonly rejects: unknown;
    readonly notes: readonly string[];
  };
  const error = 'validation failed: Expected Number of Columns: 3 Found: 4';
  assert.deepEqual([stored, rejects], [9, [{ line: 11, error }]]);
  assert.ok(notes.some((note) => note.includes('the last cell of 9 records is empty')));
});

test('a nameless column with values in many records is refused with its cause', async () => {
  const [status, text] = await answerOf('MANY', `date,a,b\n${days(2)}2024-01-20,5,6,7\n`);
  assert.equal(status, 400);
  assert.match(text, /the header names 3 columns and the records have 4; pass header=false/);
});

test('lines that all have another number of cells are not called absent', async () => {
  const [status, text] = await answerOf('NONE', 'date,a,b\n2024-01-01,1\n');
  assert.equal(status, 400);
  assert.match(text, /no record fits the header \(\\"date,a,b\\"\): line 2: /);
});
