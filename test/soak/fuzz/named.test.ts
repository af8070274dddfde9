// Named files: common hostile bodies, one by one. Each is loaded or refused with a sentence that states the
// reason; the full 1 GB line is part of the soak.
import assert from 'node:assert/strict';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { csvOf, parquetOf, zipOf } from './http/bases.ts';
import { type Arena, faultOf, openArena } from './http/judge.ts';
import { streamed } from './http/longLine.ts';

let arena: Arena;
beforeAll(async () => {
  arena = await openArena();
});
afterAll(() => arena[Symbol.asyncDispose]());

type Content = string | Uint8Array<ArrayBuffer> | Blob | ReadableStream<Uint8Array>;

interface Named {
  readonly name: string;
  readonly body: () => Content | Promise<Content>;
  readonly status: 200 | 400 | 413;
  /** Matches the refusal, or the records that are read back. */
  readonly pattern: RegExp;
  readonly query?: string;
}

const MEGABYTE = 1024 ** 2;
const csv = csvOf(200);
const bytes = (buffer: Buffer): Content => new Uint8Array(buffer);

const columns = (n: number): string => {
  const names = Array.from({ length: n }, (_, at) => `c${at}`);
  return `${names.join(',')}\n${names.map(() => '1').join(',')}\n`;
};

const deep = (n: number): string => `[{"symbol":"A","v":${'['.repeat(n)}${']'.repeat(n)}}]`;

const half = (buffer: Buffer): Content => bytes(buffer.subarray(0, buffer.length / 2));

const SHORT_ZIP =
  'UEsDBBQAAAAIAAAAAAC70sRQDwAAAA0AAAAFAAAAYS5jc3YrrsxNys/RKeNy1DHkAgBQSwECFAAUAAAACAAAAAAAu9LE' +
  'UA8AAAAuAAAABQAAAAAAAAAAAAAAAAAAAAAAYS5jc3ZQSwUGAAAAAAIAAgAzAAAAMgAAAAAA';

const REFUSED: readonly Named[] = [
  { name: 'an empty body', body: () => '', status: 400, pattern: /empty/ },
  {
    name: 'half a Parquet file',
    body: async () => half(await parquetOf('SELECT i, i % 7 AS k FROM range(5000) t(i)')),
    status: 400,
    pattern: /not readable Parquet/,
  },
  {
    name: 'Parquet magic and nothing else',
    body: () => 'PAR1PAR1',
    status: 400,
    pattern: /not readable Parquet/,
  },
  {
    name: 'half a gzip',
    body: () => half(gzipSync(csv)),
    status: 400,
    pattern: /gzip body is damaged/,
  },
  { name: 'half a zstd', body: () => half(zstdCompressSync(csv)), status: 400, pattern: /zstd/ },
  {
    name: 'half a zip',
    body: () => half(zipOf('a.csv', Buffer.from(csv))),
    status: 400,
    pattern: /zip body is damaged/,
  },
  {
    // The file fails while the list of files is still being read.
    name: 'a zip that holds less than it declares, in its file and in its list of files',
    body: () => bytes(Buffer.from(SHORT_ZIP, 'base64')),
    status: 400,
    pattern: /zip body is damaged/,
  },
  {
    name: 'a line of 64 MB without an end',
    body: () => streamed('', 64 * MEGABYTE),
    status: 400,
    pattern: /a line of the body is over/,
  },
  {
    name: 'a record of 64 MB after a good one, which DuckDB would silently skip',
    body: () => streamed('symbol,v\nA,1\nB,', 64 * MEGABYTE),
    status: 400,
    pattern: /a line of the body is over/,
  },
  { name: 'only NUL bytes', body: () => bytes(Buffer.alloc(5_000)), status: 400, pattern: /NUL/ },
  { name: 'a NUL in a cell', body: () => 'symbol,v\nA\u0000,1\n', status: 400, pattern: /NUL/ },
  {
    name: 'JSON members that differ in case',
    body: () => '[{"symbol":"A","v":1,"V":2}]',
    status: 400,
    pattern: /names column V twice/,
  },
  {
    name: 'a NUL in the name of a JSON member',
    body: () => '[{"symbol":"A","a\\u0000b":1}]',
    status: 400,
    pattern: /column/,
  },
  {
    name: 'a gzip bomb of 1000 to 1',
    body: () => bytes(gzipSync(Buffer.alloc(256 * MEGABYTE, 'a'))),
    status: 400,
    pattern: /unpacks to over/,
  },
  {
    name: '20,000 columns',
    body: () => columns(20_000),
    status: 400,
    pattern: /over [\d,]+ columns/,
  },
  {
    name: 'a gzip in a gzip',
    body: () => bytes(gzipSync(gzipSync(csv))),
    status: 400,
    pattern: /twice/,
  },
  { name: 'JSON that ends early', body: () => '[{"symbol":"A"', status: 400, pattern: /JSON/ },
  {
    name: 'a JSON scalar in an array',
    body: () => '[1,2,3]',
    status: 400,
    pattern: /no JSON object/,
  },
  {
    name: '100,000 brackets deep',
    body: () => deep(100_000),
    status: 400,
    pattern: /line 1, column 1018: objects and lists over 1000 deep/,
  },
  { name: 'no record at all', body: () => '[]', status: 400, pattern: /nothing is at/ },
  {
    name: 'a reserved name',
    body: () => 'symbol,_System_id\nA,1\n',
    status: 400,
    pattern: /reserved prefix/,
  },
];

const LOADED: readonly Named[] = [
  {
    name: 'UTF-16',
    body: () => bytes(Buffer.from(`\ufeff${csv}`, 'utf16le')),
    status: 200,
    pattern: /"symbol":"S\d"/,
  },
  {
    name: 'a header that names a column twice',
    body: () => 'symbol,v,symbol\nA,1,B\n',
    status: 200,
    pattern: /^\[\{"symbol":"A","v":1,"symbol_2":"B"\}\]$/,
  },
  {
    name: 'a header that names a column twice but for case',
    body: () => 'symbol,v,Symbol\nA,1,B\n',
    status: 200,
    pattern: /^\[\{"symbol":"A","v":1,"Symbol_2":"B"\}\]$/,
  },
  {
    name: '500 brackets deep',
    body: () => deep(500),
    status: 200,
    pattern: new RegExp(`"v":\\[{500}\\]{500}`),
  },
  {
    name: 'a byte order mark',
    body: () => '\ufeffsymbol,v\nA,1\n',
    status: 200,
    pattern: /^\[\{"symbol":"A","v":1\}\]$/,
  },
  {
    name: 'a byte order mark before JSON',
    body: () => '\ufeff[{"symbol":"A","v":1}]',
    status: 200,
    pattern: /^\[\{"symbol":"A","v":1\}\]$/,
  },
  {
    name: 'columns named like members of Object.prototype',
    body: () => 'symbol,__proto__,constructor,toString\nA,1,x,2\n',
    status: 200,
    pattern: /^\[\{"symbol":"A","__proto__":1,"constructor":"x","toString":2\}\]$/,
  },
  {
    name: 'JSON members named like members of Object.prototype',
    body: () => '[{"symbol":"A","__proto__":{"a":1},"constructor":"x","hasOwnProperty":2}]',
    status: 200,
    pattern: /"__proto__":\{"a":1\},"constructor":"x","hasOwnProperty":2/,
  },
  {
    name: 'a body with a wrong content type',
    body: () => new Blob(['symbol,v\nA,1\n'], { type: 'application/vnd.apache.parquet' }),
    status: 200,
    pattern: /"v":1/,
  },
  {
    name: '2 million rows of one value in a Parquet file of some kilobytes',
    body: async () =>
      bytes(await parquetOf(`SELECT 'S' || (i % 3) AS symbol, 'x' AS v FROM range(2000000) t(i)`)),
    status: 200,
    pattern: /"v":"x"/,
  },
];

describe('named hostile bodies are refused with a sentence, or loaded correctly', () => {
  for (const { name, body, status, pattern, query = '' } of [...REFUSED, ...LOADED]) {
    test(name, async () => {
      const { base, secret, folder } = arena.server;
      const url = `${base}/v1/data/WS/NAMED?wait=true&overwrite=true&token=${secret}${query}`;
      const init = { method: 'POST', body: await body(), duplex: 'half' as const };
      const answer = await fetch(url, init);
      const text = await answer.text();
      assert.equal(faultOf({ status: answer.status, body: text }, folder), undefined);
      assert.equal(answer.status, status, text.slice(0, 500));
      if (status === 200) {
        const read = await fetch(`${base}/v1/data/WS/NAMED?limit=1&token=${secret}`);
        assert.match(await read.text(), pattern);
        await fetch(`${base}/v1/datasets/WS/NAMED?token=${secret}`, { method: 'DELETE' });
      } else assert.match(text, pattern);
    });
  }
  test('the server is intact afterwards', async () => {
    assert.deepEqual(await arena.faults(), []);
  });
});

test('a body that is not UTF-8 is decoded correctly, or refused with its line', async () => {
  const { base, secret, folder } = arena.server;
  const url = `${base}/v1/data/WS/LATIN`;
  const post = async (text: string): Promise<readonly [number, string]> => {
    const body = new Uint8Array(Buffer.from(text, 'latin1'));
    const answer = await fetch(`${url}?wait=true&token=${secret}`, { method: 'POST', body });
    return [answer.status, await answer.text()];
  };
  assert.equal((await post('symbol,note\nA,x\n'))[0], 200);
  assert.equal((await post('symbol,extra,note\nB,1,\u00a9\n'))[0], 200);
  assert.match(await (await fetch(`${url}/B?token=${secret}`)).text(), /"note":"\u00a9"/);
  const [status, body] = await post('symbol,extra,note\nC,1,\u00c3\u00a9\nD,2,\u00e9\n');
  assert.equal(faultOf({ status, body }, folder), undefined);
  assert.equal(status, 400);
  assert.match(body, /line 3/);
});
