// Rows of names below the header: the header again, or the header of another table without a gap before it.
import assert from 'node:assert/strict';
import { afterAll, beforeAll, test } from 'vitest';
import { load, loaded, read } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';
import { typeOf } from '../values/written.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

interface Answer {
  readonly stored: number;
  readonly notes: readonly string[];
  readonly warnings: readonly string[];
}

async function answerOf(
  id: string,
  body: string,
  query: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const answer = await load(server, id, body, query);
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  return JSON.parse(text) as Answer;
}

const looksLike = ({ warnings }: Answer): readonly string[] =>
  warnings.filter((warning) => warning.includes('second header'));

/** More lines than the head of a file that is inspected. */
const LINES = Array.from({ length: 12_000 }, (_, at) => `S${at},2024-01-02,${at}.5\n`).join('');
const REPEATS: readonly (readonly [string, string, number, string])[] = [
  ['case', 'symbol,date,v\nA,2024-01-02,1\nSymbol,Date,V\nB,2024-01-02,2\n', 2, 'line 3 repeats'],
  ['blanks', 'symbol,date,v\nA,2024-01-02,1\n symbol,date ,V\nB,2024-01-02,2\n', 2, 'line 3 rep'],
  ['last', 'symbol,date,v\nA,2024-01-02,1\nSYMBOL,DATE,V', 1, 'line 3 repeats'],
  ['far down', `symbol,date,v\n${LINES}Symbol,Date,V\nB,2024-01-02,2\n`, 12_001, 'line 12002 rep'],
  ['blanks far down', `symbol,date,v\n${LINES} Symbol ,date,v\n`, 12_000, 'line 12002 repeats'],
];
for (const [at, [what, body, stored, note]] of REPEATS.entries()) {
  test(`a repeated header in other letters is left out with a note: ${what}`, async () => {
    const answer = await answerOf(`REPEAT_${at}`, body);
    assert.equal(answer.stored, stored);
    assert.ok(
      answer.notes.some((line) => line.startsWith(note)),
      answer.notes.join('\n'),
    );
    assert.equal(typeOf(server, `REPEAT_${at}`, 'date'), 'string:date');
  });
}

test('a record of the words of the header is kept', async () => {
  for (const [at, body] of [
    'from,to\nx,y\nFROM,TO\n',
    'na,x\n1,a\nNA,X\n',
    'a,b\nA,B\n',
  ].entries()) {
    const { stored } = await answerOf(`KEPT_${at}`, body);
    assert.equal(stored, body.split('\n').length - 2, body);
  }
});

const SECOND = 'symbol,date,v\nA,2024-01-02,1\nsymbol,day,w\nB,2024-01-02,2\n';

test('a row that looks like a second header is kept, with a warning whose hint loads the table', async () => {
  const answer = await answerOf('SECOND', SECOND);
  assert.equal(answer.stored, 3);
  assert.deepEqual(looksLike(answer), [
    'line 3 ("symbol,day,w") looks like a second header; it is read as a record, so that date, v are text: ' +
      'to load the table below it, pass skipLines=2 (--skip-lines 2)',
  ]);
  await loaded(server, 'BELOW', SECOND, { skipLines: '2' });
  assert.match(await read(server, '/data/WS/BELOW'), /"symbol":"B","day":"2024-01-02","w":2/);
  const twice = `${SECOND}isin,when,name\nC,2024-01-02,3\n`;
  assert.equal(looksLike(await answerOf('THIRD', twice)).length, 1);
});

test('a word among values is no second header', async () => {
  const bodies = [
    'symbol,v\nA,1\nB,pending\nC,2\n',
    'symbol,date,v\nA,2024-01-02,1\nB,2024-01-03,many\n',
    'symbol,note\nA,one\nB,two\n',
    'symbol,code\nA,1\nB,x1\nC,x2\nD,y\n',
  ];
  for (const [at, body] of bodies.entries()) {
    assert.deepEqual(looksLike(await answerOf(`WORDS_${at}`, body)), [], body);
  }
});

test('a title above records of several lines is refused with the number of lines to skip', async () => {
  const rows = Array.from({ length: 8 }, (_, at) => `k${at},${at}.5,"two\nlines"\n`).join('');
  const body = `Prices of today\nkey,value,note\n${rows}`;
  const refused = await load(server, 'TITLE', body);
  assert.match(await refused.text(), /no header: 3 columns begin in line 2; pass skipLines=1/);
  assert.equal((await answerOf('TITLE', body, { skipLines: '1', key: 'key' })).stored, 8);
  const row = '[{"key":"k7","value":7.5,"note":"two\\nlines"}]';
  assert.equal(await read(server, '/data/WS/TITLE/k7'), row);
});
