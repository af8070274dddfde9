// The transcript runner itself, against a small server of the test.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, test } from 'vitest';
import { difference } from './difference.ts';
import { fillIn, matchPattern, redraw, volatileNamed } from './pattern.ts';
import { signatureDate, signatureHeaders } from './signature.ts';
import { conversationOf, readTranscript, isUpdateRequested } from './transcript.ts';

const SECRET = 'sk_0123456789abcdef0123456789abcdef';
const JOB = '0123456789abcdef0123456789abcdef';

let base = '';
let folder = '';
let polls = 0;
const server = createServer((request, answer) => {
  ANSWERS[request.url?.split('?')[0] ?? '']?.(request, answer);
});

const ANSWERS: Readonly<Record<string, RequestListener>> = {
  '/load': (request, answer) => {
    void textOf(request).then((body) => {
      answer.writeHead(201, { 'content-type': 'application/json', 'svccloud-messages-used': '0' });
      answer.end(`{"job":"${JOB}","token":"${SECRET}","at":1700000000123,"got":"${body}"}`);
    });
  },
  '/echo': (request, answer) => {
    void textOf(request).then((body) => {
      answer.writeHead(200, {
        'content-type': 'text/plain',
        'x-seen': request.headers['x-a'] ?? '',
      });
      answer.end(`${request.method} ${request.url}\n${body}`);
    });
  },
  [`/jobs/${JOB}`]: (_request, answer) => {
    polls += 1;
    answer.end(polls < 3 ? '{"status":"running"}' : '{"status":"done"}\n');
  },
  '/signature': ({ headers }, answer) => {
    answer.end(`${headers['x-svc-date']} ${headers.authorization}`);
  },
  '/large': (_request, answer) => {
    answer.end('x'.repeat(30_000));
  },
  '/bytes': (_request, answer) => {
    answer.end(Buffer.from([0, 1, 255]));
  },
};

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'transcript-'));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(async () => {
  server.close();
  await rm(folder, { recursive: true });
});

/** Plays `text` with `to`; returns the failures by title, and the text of the file afterwards. */
async function play(
  text: string,
  update = false,
  to = base,
): Promise<{
  readonly failures: Readonly<Record<string, string>>;
  readonly written: string;
}> {
  const path = join(folder, 'a.http');
  await writeFile(path, text);
  polls = 0;
  const failures: Record<string, string> = {};
  const variables = new Map([
    ['sk', SECRET],
    ['base', base],
  ]);
  const { finish, steps } = conversationOf(await readTranscript(path), update);
  for (const { play, title } of steps) {
    await play({ base: to, variables }).catch((error: unknown) => {
      failures[title] = String(error);
    });
  }
  await finish();
  return { failures, written: await readFile(path, 'utf8') };
}

const CONVERSATION = `# A comment.
@TAPEDECK_DEMO=off

### load
# what is loaded
POST /load?token={{sk}}
content-type: text/csv

a,b

HTTP 201
Content-Type: application/json
svccloud-messages-used: {{int}}
!x-not-there

{"job":"{{job=hex32}}","token":"{{sk}}","at":{{ms}},"got":"a,b"}

### wait
@until "status":"done"
GET /jobs/{{job}}

HTTP 200

{"status":"done"}


### echo
GET {{base}}/echo?x=//{{job}}
X-A: one
X-A: two

HTTP 200
x-seen: one, two

GET /echo?x=//{{*}}

`;

const FRESH = `### load
POST /load

body

### poll
GET /jobs/${JOB}

HTTP

### bytes
GET /bytes
`;

const WRITTEN = `### load
POST /load

body

HTTP 201
content-type: application/json
svccloud-messages-used: 0

{"job":"${JOB}","token":"{{sk}}","at":1700000000123,"got":"body"}

### poll
GET /jobs/${JOB}

HTTP 200

{"status":"running"}

### bytes
GET /bytes

HTTP 200

3 bytes, sha256 3c0e37bd81ab9a0de2c3bbac30e72a8fb7b19e95d82a5b2c0cd1cdcbef4ba5a2
`;

test('a passing conversation is unchanged, with and without update', async () => {
  for (const update of [false, true]) {
    const { failures, written } = await play(CONVERSATION, update);
    assert.deepEqual(failures, {});
    assert.equal(written, CONVERSATION);
  }
  const { settings } = await readTranscript(join(folder, 'a.http'));
  assert.deepEqual(settings, { TAPEDECK_DEMO: 'off' });
});

test('differences are shown, and nothing is written without update', async () => {
  const text = CONVERSATION.replace('"a,b"}', '"A,B"}')
    .replace('HTTP 201', 'HTTP 200')
    .replace('!x-not-there', '!content-type\nx-missing: 1');
  const { failures, written } = await play(text);
  assert.equal(written, text);
  assert.deepEqual(Object.keys(failures), ['load']);
  for (const line of [
    '- HTTP 200',
    '+ HTTP 201',
    '+ content-type: application/json',
    '+ !x-missing',
    '"got":"a,b"}',
  ])
    assert.ok(failures['load']?.includes(line), line);
});

test('update keeps the placeholders and corrects the rest', async () => {
  const wrong = CONVERSATION.replace('"a,b"}', '"old"}')
    .replace('HTTP 201', 'HTTP 200')
    .replace('{{int}}', '7')
    .replace('"status":"done"}\n', '"status":"gone"}\n');
  const { failures, written } = await play(wrong, true);
  assert.deepEqual(failures, {});
  assert.equal(written, CONVERSATION.replace('{{int}}', '0'));
});

test('update writes missing expectations: status, relevant headers, body, names of tokens', async () => {
  const compared = await play(FRESH);
  assert.match(compared.failures['load'] ?? '', /no expectation yet: UPDATE=1/);
  const { written } = await play(FRESH, true);
  const digest = /sha256 [0-9a-f]{64}/;
  assert.equal(written.replace(digest, ''), WRITTEN.replace(digest, ''));
  assert.deepEqual((await play(written)).failures, {});
});

test('long bodies are compared by digest, or by a pattern', async () => {
  const ask = '### large\nGET /large\n\nHTTP 200\n\n';
  const { written } = await play(`${ask}x\n`, true);
  assert.match(written, /^30000 bytes, sha256 [0-9a-f]{64}$/m);
  assert.deepEqual((await play(written)).failures, {});
  assert.deepEqual((await play(`${ask}xx{{*}}x\n`)).failures, {});
  assert.match((await play(`${ask}y{{*}}\n`)).failures['large'] ?? '', /\+ 30000 bytes/);
});

test('a request body may be a file, and is sent as it is', async () => {
  await writeFile(join(folder, 'input.csv'), '{{sk}}\n');
  const text = '### file\nPUT /echo\n\n< input.csv\n\nHTTP 200\n\nPUT /echo\n{{*}}\n\n';
  const { written } = await play(text.replace('{{*}}', 'x'), true);
  const digest = (await play(text)).failures;
  assert.deepEqual(digest, {});
  assert.match(written, /\d+ bytes, sha256/, 'a body that looks like a placeholder is a digest');
});

test('a request line with an address is sent there, and not to the server of the conversation', async () => {
  const nobody = 'http://127.0.0.1:1';
  const { failures } = await play(
    '### there\nGET {{base}}/echo?x=//{{sk}}\n\nHTTP 200\n\nGET /echo?x=//{{sk}}\n\n\n### here\nGET /echo\n',
    false,
    nobody,
  );
  assert.deepEqual(Object.keys(failures), ['here']);
  assert.match(failures['here'] ?? '', /ECONNREFUSED/);
});

interface Vector {
  readonly [name: string]: string;
}

test('signatures equal those of the vectors, which another program computed', async () => {
  const path = join(import.meta.dirname, '..', 'clients', 'signing', 'vectors.json');
  const vectors = JSON.parse(await readFile(path, 'utf8')) as readonly Vector[];
  const vector = vectors.find(({ name }) => name === 'the token is the whole query');
  assert.ok(vector !== undefined);
  const { method = '', host = '', secret = '', date = '', authorization } = vector;
  const request = { method, host, target: `${vector['path']}?last=2&${vector['query']}` };
  const headers = signatureHeaders({ ...request, body: Buffer.of() }, secret, date);
  assert.deepEqual(headers, { 'x-svc-date': date, authorization });
  assert.equal(signatureDate(new Date('2025-03-14T09:26:53.589Z')), '20250314T092653Z');
});

test('@sign adds the two headers, as of now or of a given time', async () => {
  const block = (directive: string): string =>
    `### signed\n# twice\n${directive}\nPOST /signature?token={{sk}}\n\nbody\n\nHTTP 200\n\n`;
  const authorization =
    'SVC-HMAC-SHA256 Credential={{sk}}/20250314/svc_request, SignedHeaders=host;x-svc-date, ';
  const then = await play(
    `${block('@sign {{sk}} 20250314T092653Z')}20250314T092653Z ${authorization}Signature={{hex64}}\n`,
  );
  assert.deepEqual(then.failures, {});
  const now = signatureDate(new Date());
  const { failures } = await play(`${block('@sign {{sk}}')}${now.slice(0, 11)}{{*}}\n`);
  assert.deepEqual(failures, {});
});

test('mistakes in a transcript are named', async () => {
  await assert.rejects(play('### a\nHTTP 200\n'), /a\.http, ### a: expected a request line/);
  await assert.rejects(play('### a\nGET /echo\nno header\n'), /header\? no header/);
  const unknown = await play('### a\nGET /echo?{{nobody}}\n');
  assert.match(unknown.failures['a'] ?? '', /\{\{nobody\}\} is not known here/);
  const kind = await play('### a\nGET /echo\n\nHTTP 200\n\n{{a=word}}\n');
  assert.match(kind.failures['a'] ?? '', /word is no kind of placeholder/);
  const header = await play('### a\nGET /echo\n\nHTTP 200\n!a: b\n');
  assert.match(header.failures['a'] ?? '', /expected `name: value` or `!name`/);
});

test('update is requested by UPDATE=1, and refused with CI=true', () => {
  assert.equal(isUpdateRequested({}), false);
  assert.equal(isUpdateRequested({ CI: 'true' }), false);
  assert.equal(isUpdateRequested({ UPDATE: '1' }), true);
  assert.throws(() => isUpdateRequested({ UPDATE: '1', CI: 'true' }), /refused/);
});

test('patterns match whole texts', () => {
  const variables = new Map([['pk', 'a.b']]);
  for (const [pattern, text, matches] of [
    ['{{int}}', '-12', true],
    ['{{int}}', '1.5', false],
    ['{{pk}}', 'a.b', true],
    ['{{pk}}', 'axb', false],
    ['{{hex4}}', '0aF9', true],
    ['{{ms}}', '123', false],
    ['{{iso}}', '2026-01-31T12:00:00.000Z', true],
    ['a{{*}}b', 'a\nb\nb', true],
    ['{{uuid}}', '01234567-89ab-4def-8123-456789abcdef', true],
    ['{{"a"}}', '{{"a"}}', true],
    ['{{n=int}}-{{n}}', '7-7', true],
    ['{{n=int}}-{{n}}', '7-8', false],
  ] as const)
    assert.equal(matchPattern(pattern, text, variables) !== undefined, matches, pattern);
  assert.equal(matchPattern('{"id":{{id=int}}}', '{"id":42}', variables)?.get('id'), '42');
  assert.equal(fillIn('/{{pk}}/x', variables), '/a.b/x');
});

test('a value is found only by its own key', () => {
  const variables = new Map<string, string>();
  const row = (id: string, at: string): string => `{"id":"${id}","v":1,"at":${at}}`;
  const pattern = `[${row('{{id=hex4}}', '{{ms}}')},${row('{{id}}', '{{ms}}')}]`;
  const actual = `[{"new":true},${row('00ff', '1700000000000')},${row('00ff', '1700000000001')}]`;
  const newPattern = redraw(pattern, actual, variables);
  assert.equal(newPattern, pattern.replace('[{', '[{"new":true},{'));
  assert.equal(redraw('{"a":"{{hex4}}"}', '{"b":"00ff"}', variables), '{"b":"00ff"}');
});

test('times close to now and UUIDs are volatile, other times are not', () => {
  const now = Date.parse('2026-01-31T12:00:00.000Z');
  const uuid = '01234567-89ab-4def-8123-456789abcdef';
  const text = `${now + 5} ${now - 86_400_000} 2026-01-31T12:00:01Z 2025-01-31T12:00:00Z ${uuid}`;
  assert.equal(
    volatileNamed(text, now),
    `{{ms}} ${now - 86_400_000} {{iso}} 2025-01-31T12:00:00Z {{uuid}}`,
  );
});

test('an updated pattern always matches its actual text', () => {
  const piece = fc.constantFrom(
    '{{*}}',
    '{{int}}',
    '{{hex2}}',
    '{{a=int}}',
    '{{pk}}',
    '"a":',
    'x',
    '12',
    ',',
    '\n',
  );
  const text = fc
    .array(fc.constantFrom('"a":', 'x', '12', ',', '\n', 'secretsecretsecret', '.'))
    .map((parts) => parts.join(''));
  const variables = new Map([['pk', 'secretsecretsecret']]);
  fc.assert(
    fc.property(fc.array(piece), text, (parts, actual) => {
      const pattern = parts
        .filter((part, index) => part !== '{{a=int}}' || parts.indexOf(part) === index)
        .join('');
      const newPattern = redraw(pattern, actual, variables);
      const holds = matchPattern(pattern, actual, variables) !== undefined;
      return (
        matchPattern(newPattern, actual, variables) !== undefined &&
        (holds || newPattern !== pattern)
      );
    }),
  );
});

test('the difference of two texts is their differing lines', () => {
  assert.equal(difference('a\nb\nc', 'a\nB\nc'), '  a\n- b\n+ B');
  assert.equal(difference('a', 'a'), '');
  assert.equal(difference('a\n', 'a'), '  a\n- ');
  const long = difference(`${'x'.repeat(5000)}1`, `${'x'.repeat(5000)}2`);
  assert.ok(long.length < 500 && long.includes('x1\n') && long.endsWith('x2'), long);
});
