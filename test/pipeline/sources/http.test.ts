// HTTP sources: one body, lists in pages, and other answers of a server.
import assert from 'node:assert/strict';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { describe, test } from 'vitest';
import { httpPull } from '../../../pipeline/sources/http/http.ts';
import { checkPages } from '../../../pipeline/sources/http/pages.ts';
import type { HttpDefinition, Pages, Pull } from '../../../pipeline/sources/base/source.ts';
import { startHttp } from '../../base/servers/http.ts';
import { startWire } from '../../base/servers/wire.ts';
import { failing, type Kind, pulled, recordsOf, type World } from './contract.ts';
import { runContract } from './contractCases.ts';

const RULES = {
  allowPrivateAddresses: true,
  deadlineMs: 20_000,
  resolve: async () => [{ address: '127.0.0.1', family: 4 }],
};

const pull = httpPull(RULES) as Pull;

interface Batch {
  readonly batch: number;
  readonly bytes?: number;
}

type Answer = (url: URL, response: ServerResponse, request: IncomingMessage) => void;

/** Serves the batches of `add` to requests with the key. */
async function startWorld(
  answer: (batches: readonly Batch[]) => Answer,
  pages?: Pages,
): Promise<World> {
  const batches: Batch[] = [];
  const listener: RequestListener = (request, response) => {
    const url = new URL(request.url ?? '/', 'http://a');
    if (request.headers['x-key'] !== 'right') response.writeHead(403).end('no such key');
    else if (url.pathname === '/list') answer(batches)(url, response, request);
    else response.writeHead(404).end();
  };
  const stack = new AsyncDisposableStack();
  const server = stack.use(await startHttp(listener));
  const wire = stack.use(await startWire(server.port));
  const base = `http://127.0.0.1:${wire.port}`;
  const definition: HttpDefinition = {
    type: 'HTTP',
    url: `${base}/list?secret=1`,
    jsonPath: '$.data',
    ...(pages === undefined ? {} : { pages }),
  };
  const key = (value: string) => ({ type: 'HTTP', headers: { 'X-Key': value } }) as const;
  const why = new RegExp(`^${base}/missing.* is not there`);
  return {
    pull,
    impatient: httpPull({ ...RULES, deadlineMs: 300 }) as Pull,
    order: { definition, credential: key('right') },
    wire,
    add: async (batch, bytes) => {
      batches.push({ batch, ...(bytes === undefined ? {} : { bytes }) });
    },
    refused: {
      'a wrong key': {
        order: { credential: key('wrong') },
        why: /refused the credential \(HTTP 403\): no such key/,
      },
      'a missing path': {
        order: { definition: { ...definition, url: `${base}/missing?secret=1` } },
        why,
      },
      'a credential of another kind': {
        order: { credential: { type: 'AWS-S3', accessKeyId: 'a', secretAccessKey: 'b' } },
        why: /type AWS-S3 does not open/,
      },
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

function send(response: ServerResponse, batches: readonly Batch[], more: object = {}): void {
  const text = function* (): Generator<string, void> {
    yield `{"data":[`;
    let comma = '';
    for (const { batch, bytes } of batches) {
      for (const record of recordsOf(batch, bytes)) {
        yield `${comma}${record}`;
        comma = ',\n';
      }
    }
    yield `],"more":${JSON.stringify(more)}}`;
  };
  pipeline(Readable.from(text()), response, () => undefined);
}

const KINDS: readonly Kind[] = [
  {
    name: 'HTTP',
    sends: 'one',
    untilRecords: 300,
    start: () => startWorld((batches) => (_url, response) => send(response, batches)),
  },
  {
    name: 'an HTTP list by page',
    sends: 'each',
    untilRecords: 300,
    largeBytes: 12_000_000,
    start: () =>
      startWorld(
        (batches) => (url, response) =>
          send(response, batches.slice(Number(url.searchParams.get('page')) - 1).slice(0, 1)),
        { kind: 'page', parameter: 'page' },
      ),
  },
  {
    name: 'an HTTP list by cursor',
    sends: 'each',
    untilRecords: 300,
    largeBytes: 12_000_000,
    start: () =>
      startWorld(
        (batches) => (url, response) => {
          const at = Number(url.searchParams.get('after') ?? 0);
          // A server does not know whether more will follow.
          const more = at < batches.length ? { next: { after: at + 1 } } : {};
          send(response, batches.slice(at, at + 1), more);
        },
        { kind: 'cursor', parameter: 'after', cursorPath: '$.more.next.after' },
      ),
  },
];
for (const kind of KINDS) runContract(kind);

/** Pulls from a server that answers every request with `answer`. */
async function from(
  answer: RequestListener,
  work: (world: World, requestPaths: readonly string[]) => Promise<void>,
  definition: Partial<HttpDefinition> = {},
): Promise<void> {
  const requestPaths: string[] = [];
  await using server = await startHttp((request, response) => {
    requestPaths.push(request.url ?? '');
    answer(request, response);
  });
  const url = `http://127.0.0.1:${server.port}/a`;
  await work(
    {
      pull,
      impatient: pull,
      order: { definition: { type: 'HTTP', url, ...definition }, credential: undefined },
      add: () => Promise.resolve(),
      refused: {},
      [Symbol.asyncDispose]: () => Promise.resolve(),
    },
    requestPaths,
  );
}

describe('conditions', () => {
  test('an ETag and a time are sent back, and nothing is transferred', async () => {
    const conditions: unknown[] = [];
    await from(
      (request, response) => {
        const { 'if-none-match': tag, 'if-modified-since': time } = request.headers;
        conditions.push([tag, time]);
        if (tag === '"v1"') response.writeHead(304).end();
        else
          response
            .writeHead(200, { etag: '"v1"', 'last-modified': 'Tue, 01 Jan 2030 00:00:00 GMT' })
            .end('[]');
      },
      async (world) => {
        const { position } = await pulled(world);
        const again = await pulled(world, { since: position });
        assert.deepEqual(again.names, []);
      },
    );
    const [, second] = conditions;
    assert.deepEqual(conditions, [[undefined, undefined], second]);
    assert.deepEqual(second, ['"v1"', 'Tue, 01 Jan 2030 00:00:00 GMT']);
  });

  test('the same body again is no piece, and a changed one is', async () => {
    let text = '[{"a":1}]';
    await from(
      (_request, response) => response.end(text),
      async (world) => {
        const { position } = await pulled(world);
        assert.deepEqual((await pulled(world, { since: position })).texts, []);
        text = '[{"a":2}]';
        assert.deepEqual((await pulled(world, { since: position })).texts, [text]);
      },
    );
  });

  test('a URL may name the day on which it is fetched', async () => {
    await from(
      (_request, response) => response.end('[]'),
      async (world, requestPaths) => {
        const definition = world.order.definition as HttpDefinition;
        const url = `${definition.url}-{yyyy}-{mm}-{dd}.csv?m={yyyy}{mm}&as={it}`;
        await pulled({ ...world, order: { ...world.order, definition: { ...definition, url } } });
        assert.deepEqual(requestPaths, ['/a-2031-01-01.csv?m=203101&as={it}']);
      },
    );
  });

  test('a validator that is too long is not kept', async () => {
    await from(
      (_request, response) => response.writeHead(200, { etag: `"${'x'.repeat(2_000)}"` }).end('[]'),
      async (world) => assert.equal((await pulled(world)).position?.['etag'], null),
    );
  });
});

describe('bodies land as they are', () => {
  const HTML = '<!doctype html><title>Maintenance</title>';
  for (const [name, headers, sent, text] of [
    ['HTML instead of JSON', { 'content-type': 'text/html' }, HTML, HTML],
    ['a gzip body', { 'content-encoding': 'gzip' }, gzipSync('a,b\n1,2\n'), 'a,b\n1,2\n'],
    ['an empty body', {}, '', ''],
  ] as const) {
    test(name, () =>
      from(
        (_request, response) => response.writeHead(200, headers).end(sent),
        async (world) => assert.deepEqual((await pulled(world)).texts, [text]),
      ),
    );
  }
});

describe('statuses', () => {
  for (const [status, why, transient] of [
    [400, /answered HTTP 400: because/, false],
    [401, /refused the credential \(HTTP 401\): because/, false],
    [404, /is not there \(HTTP 404\)/, false],
    [410, /is not there \(HTTP 410\)/, false],
    [202, /answered HTTP 202/, true],
    [206, /answered HTTP 206/, false],
    [304, /answered HTTP 304/, false],
    [300, /answered HTTP 300/, false],
    [408, /answered HTTP 408/, true],
    [429, /answered HTTP 429: because/, true],
    [500, /answered HTTP 500: because/, true],
    [501, /answered HTTP 501/, false],
    [503, /answered HTTP 503/, true],
  ] as const) {
    test(`${status}${transient ? ' for now' : ''}`, () =>
      from(
        (_request, response) => response.writeHead(status).end('because\r\n  of \0 it'),
        (world) => assert.rejects(pulled(world), failing(why, transient)),
      ));
  }
  test('204 is nothing', () =>
    from(
      (_request, response) => response.writeHead(204).end(),
      async (world) => assert.deepEqual((await pulled(world)).names, []),
    ));
});

describe('pages', () => {
  const byPage: Pages = { kind: 'page', parameter: 'p', first: 0 };
  const byCursor: Pages = { kind: 'cursor', parameter: 'c', cursorPath: '$.next' };
  const pageOf = (url: string | undefined): number =>
    Number(new URL(url ?? '', 'http://a').searchParams.get('p'));

  test('from the first changed page on, all are sent again', async () => {
    const lists = [[1], [2], [3]];
    await from(
      (request, response) => response.end(JSON.stringify(lists[pageOf(request.url)] ?? [])),
      async (world) => {
        const first = await pulled(world);
        assert.deepEqual(first.texts, ['[1]', '[2]', '[3]']);
        lists[1] = [20];
        const second = await pulled(world, { since: first.position });
        assert.deepEqual(second.texts, ['[20]', '[3]']);
        lists.pop();
        assert.deepEqual((await pulled(world, { since: second.position })).texts, []);
      },
      { pages: byPage },
    );
  });

  test('a page that is not there ends a list by page', () =>
    from(
      (request, response) =>
        response.writeHead(pageOf(request.url) > 1 ? 404 : 200).end(`[${pageOf(request.url)}]`),
      async (world, requestPaths) => {
        assert.deepEqual((await pulled(world)).texts, ['[0]', '[1]']);
        assert.deepEqual(requestPaths, ['/a?p=0', '/a?p=1', '/a?p=2']);
      },
      { pages: byPage },
    ));

  test('an empty page within a list by cursor is no piece and no end', async () => {
    const lists = [
      { data: [1], next: 'x y&' },
      { data: [], next: 2 },
      { data: [3], next: '' },
    ];
    await from(
      (_request, response) => response.end(JSON.stringify(lists.shift())),
      async (world, requestPaths) => {
        assert.equal((await pulled(world)).names.length, 2);
        assert.deepEqual(requestPaths, ['/a', '/a?c=x+y%26', '/a?c=2']);
      },
      { pages: byCursor, jsonPath: '$.data' },
    );
  });

  const FAULTS: readonly (readonly [
    name: string,
    pages: Pages,
    bodies: readonly string[],
    why: RegExp,
  ])[] = [
    [
      'a repeated cursor',
      byCursor,
      ['{"n":1,"next":"a"}', '{"n":2,"next":"b"}', '{"n":3,"next":"a"}'],
      /same cursor/,
    ],
    ['a server that knows no pages', byPage, ['[1]', '[1]'], /page 2 is the page before once more/],
    ['HTML', byPage, ['<html>'], /the source answered a web page/],
    ['half a page', byPage, ['[1,'], /not JSON/],
    ['nothing at the path', byPage, ['{"dat":[1]}'], /page 1 has nothing at "jsonPath"/],
    ['an object as cursor', byCursor, ['{"next":{"a":1}}'], /cursor must be a text/],
    ['a number that is not exact', byCursor, ['{"next":12345678901234567890}'], /below 2\^53/],
    ['an endless cursor', byCursor, [`{"next":"${'x'.repeat(3_000)}"}`], /at most 2048/],
  ];
  for (const [name, pages, bodies, why] of FAULTS) {
    test(`${name} is a failure`, () => {
      const rest = [...bodies];
      const path = name.startsWith('nothing') ? { jsonPath: '$.data' } : {};
      return from(
        (_request, response) => response.end(rest.shift() ?? '[]'),
        (world) => assert.rejects(pulled(world), failing(why, false)),
        { pages, ...path },
      );
    });
  }

  test('a list without end stops at the limit of pages', () =>
    from(
      (request, response) => response.end(`[${pageOf(request.url)}]`),
      async (world, requestPaths) => {
        await assert.rejects(pulled(world), failing(/at most 1000 pages/, false));
        assert.equal(requestPaths.length, 1_000);
      },
      { pages: byPage },
    ));

  test('valid and invalid definitions of pages', () => {
    checkPages({ kind: 'page', parameter: 'page[number]', first: 0 });
    checkPages({ kind: 'cursor', parameter: 'after', cursorPath: '$.a.b-c' });
    for (const pages of [
      { kind: 'page', parameter: '' },
      { kind: 'page', parameter: 'a&b' },
      { kind: 'page', parameter: 'p', first: 0.5 },
      { kind: 'cursor', parameter: 'p', cursorPath: '$' },
      { kind: 'cursor', parameter: 'p', cursorPath: '$.a[*]' },
      { kind: 'cursor', parameter: 'p', cursorPath: 'a.b' },
    ] as const) {
      assert.throws(
        () => {
          checkPages(pages);
        },
        failing(/"pages\./, false),
      );
    }
  });
});
